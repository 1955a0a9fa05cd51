import jinja2
import pytest

from forensics.report.templates import environment, prose, template_folder


def _render(source: str, **values: object) -> str:
    return environment().from_string(source).render(**values)


def test_an_unknown_name_is_an_error_not_a_blank() -> None:
    with pytest.raises(jinja2.UndefinedError):
        _render("{{ nobody }}")


def test_text_is_escaped_and_cleaned_wherever_it_stands() -> None:
    assert _render('<a title="{{ x }}">{{ x }}', x='"<b>\x1b') == (
        '<a title="&#34;&lt;b&gt;\\x1b">&#34;&lt;b&gt;\\x1b'
    )


def test_backticks_mark_code_only_in_pairs() -> None:
    assert str(prose("set `a<b` now")) == "set <code>a&lt;b</code> now"
    assert str(prose("a ` alone <i>")) == "a ` alone &lt;i&gt;"


def test_templates_do_no_arithmetic() -> None:
    tokens = ("add", "sub", "mul", "div", "mod", "pow")
    for path in template_folder().glob("*.j2"):
        lexed = environment().lex(path.read_text(encoding="utf-8"))
        assert not [
            t for t in lexed if t[1] == "operator" and t[2] in ("+", "*", "/", "%", "**")
        ], (
            path.name,
            tokens,
        )


def test_every_template_compiles() -> None:
    names = environment().list_templates(extensions=["j2"])
    assert "report.html.j2" in names
    for name in names:
        assert environment().get_template(name).name == name
