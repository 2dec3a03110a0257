"""What a kernel of somebody else's has the compiler open behind the preprocessor's back, found in its preprocessed text.

Where the operating system cannot confine a compiler (`tensim.sim.cores.riscv.confinement`) such a kernel is refused.  The
preprocessor has resolved macros, spliced lines and `_Pragma`; what is left are assembler texts, pragmas, and strings that a
compiler which writes assembler source copies into it.  What is not known to open nothing is refused.
"""

import re

# Tokens of a preprocessed text.  Whatever they do not cover (a stray quote, an escaped identifier) is refused.
TOKEN = re.compile(
    r"""(?P<marker>^[ \t]*\#[ \t]*(?:line[ \t]+)?(?P<number>\d+)(?:[ \t]+"(?P<file>(?:[^"\\\n]|\\.)*)"[ \t\d]*)?$)
    |(?P<pragma>^[ \t]*\#[ \t]*pragma\b(?P<asked>[^\n]*))
    |(?P<directive>^[ \t]*\#[^\n]*)
    |(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<raw>(?:u8|u|U|L)?R"(?P<mark>[^()\\\s"]{0,16})\((?P<body>.*?)\)(?P=mark)")
    |(?P<string>(?:u8|u|U|L)?"(?P<content>(?:[^"\\\n]|\\.)*)")
    |(?P<letter>(?:u8|u|U|L)?'(?:[^'\\\n]|\\.)+')
    |(?P<digits>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
    |(?P<word>[^\W\d][\w$]*)
    |(?P<space>\n|[^\S\n]+)
    |(?P<other>[^"'\\])""",
    re.M | re.S | re.X,
)
# Whole tokens of which none matters, at once
RUN = re.compile(
    r"""(?:(?>[^\S\n]++(?!\#)|\n(?![^\S\n]*\#)|\.?\d(?:[eEpP][+-]|'\w|[\w.])*
    |(?!(?:asm|__asm|__asm__|optimize)(?![\w$]))[^\W\d][\w$]*(?!["'\w$])
    |[{}()\[\];,<>=+*&|!~?:^%-]|\.(?!\d)|/(?![/*])))+""",
    re.X,
)
PLAIN = ("word", "other", "digits", "letter")
LARGEST = 16 << 20  # characters of a preprocessed kernel
ASSEMBLER = ("asm", "__asm", "__asm__")
TELLING = (*ASSEMBLER, "optimize")  # words whose next tokens are looked at one by one, up to one of these
ENDS = tuple("):;{}")
QUALIFIERS = re.compile(r"(__)?(volatile|inline|goto|const)(__)?")
ESCAPE = re.compile(
    r"\\(?:[xu]\{(?P<braced>[0-9a-fA-F]+)\}|x(?P<hex>[0-9a-fA-F]+)|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})|"
    r"o\{(?P<octals>[0-7]+)\}|(?P<octal>[0-7]{1,3})|(?P<named>N)\{[^}]*\}|(?P<simple>.))",
    re.S,
)
SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": "\a", "b": "\b", "e": "\x1b"}
DIRECTIVES = set(
    """.insn .option .word .half .byte .long .short .hword .2byte .4byte .8byte .dword .quad .zero .space .skip .fill .balign
    .p2align .align .text .data .bss .section .pushsection .popsection .previous .global .globl .local .weak .hidden .type .size
    .set .equ .comm""".split()
)
# No statement opens a file without a quote; braces and bars choose between texts, backslashes are arguments of macros
UNREADABLE = re.compile(r"""[^\x20-\x7e\n\t]|["'`{}|\\]|/\*""")
LABELS = re.compile(r"(?:\s*[\w.$%=]+\s*:)*\s*")
MNEMONIC = re.compile(r"[A-Za-z_][\w.%\[\]]*|(?P<directive>\.\w+)(?![\w.$%])")
PRAGMAS = re.compile(
    r"\s*(once|unroll|nounroll|pack|STDC|ivdep|push_macro|pop_macro|"
    r"GCC\s+(system_header|diagnostic|unroll|ivdep|push_options|pop_options|poison|visibility|warning|error)|"
    r"clang\s+(system_header|diagnostic|loop|fp|attribute|deprecated|final|unroll))\b"
)
# What would be a directive where a compiler copies a string into assembler source, as names of sections
COPIED = re.compile(
    r"\.\s*(incbin|include|macro|irpc?|rept|altmacro|mri|print|file|ident|if|else|endif|error|warning)|\n\s*\.|;\s*\."
)


class FileAccess(Exception):
    """`what` opens a file, or may do so; `file`, `line`: where it stands."""

    def __init__(self, what, file, line):
        super().__init__(what)
        self.what, self.file, self.line = what, file, line


def refuse_file_access(text, own=(), copies_strings=False):
    """FileAccess for a preprocessed text that has the compiler open a file.

    `own`: assembler texts that are ours.  `copies_strings`: the compiler writes assembler source, strings of attributes in it.
    """
    if len(text) > LARGEST:
        raise FileAccess(f"a text of more than {LARGEST >> 20} MB", None, 1)
    tokens = list(_tokens(text))
    at = 0
    while at < len(tokens):
        kind, found, file, line = tokens[at]
        at += 1
        if kind == "pragma" and not PRAGMAS.match(found):
            raise FileAccess(f"the pragma {' '.join(found.split()[:2])!r}", file, line)
        if kind == "word" and found in ASSEMBLER:
            at, assembler = _assembler_text(tokens, at, file, line)
            if assembler not in own:
                _refuse_directives(assembler, file, line)
        elif kind == "string" and copies_strings and COPIED.search(_joined(tokens, at - 1)[1]):
            raise FileAccess("a string with a directive of the assembler", file, line)
        elif copies_strings and found == "optimize" and [one[0] for one in tokens[at : at + 2]] == ["other", "string"]:
            raise FileAccess("options of the compiler", file, line)


def _tokens(text):
    """(kind, content, file, line) of all tokens that matter; strings decoded."""
    at, file, line, closely = 0, None, 1, False
    while at < len(text):
        run = None if closely else RUN.match(text, at)
        if run is not None:
            if not run[0].isspace():  # which may stand between the parts of a string
                yield "run", "", file, line
            line += run[0].count("\n")
            at = run.end()
            continue
        match = TOKEN.match(text, at)
        if match is None:
            raise FileAccess("a text that cannot be read without the compiler", file, line)
        kind = match.lastgroup
        if kind in PLAIN:
            closely = match[0] in TELLING or (closely and match[0] not in ENDS)
            yield kind, match[0], file, line
        elif kind == "marker":
            file, line = match["file"] if match["file"] is not None else file, int(match["number"]) - 1
        elif kind == "pragma":
            yield kind, match["asked"], file, line
        elif kind == "raw":
            yield "string", match["body"], file, line
        elif kind == "string":
            yield kind, ESCAPE.sub(_character, match["content"]), file, line
        elif kind == "directive":
            raise FileAccess(f"the directive {match[0].strip()[:40]!r}", file, line)
        line += match[0].count("\n")
        at = match.end()


def _character(escape):
    """The character of an escape sequence; for one with a name, which no assembler text needs, a quote."""
    kind, code = escape.lastgroup, escape[escape.lastgroup]
    if kind == "named":
        return '"'
    if kind == "simple":
        return SIMPLE.get(code, code)
    return chr(min(int(code, 8 if kind.startswith("octal") else 16), 0x10FFFF))


def _joined(tokens, at):
    """(Index behind, text) of the adjacent strings from an index on."""
    texts = []
    while at < len(tokens) and tokens[at][0] == "string":
        texts.append(tokens[at][1])
        at += 1
    return at, "".join(texts)


def _assembler_text(tokens, at, file, line):
    """(Index behind, text) of what stands behind `asm`."""
    while at < len(tokens) and tokens[at][0] == "word" and QUALIFIERS.fullmatch(tokens[at][1]):
        at += 1
    is_open = at < len(tokens) and tokens[at][1] == "("
    behind, text = _joined(tokens, at + 1)
    if not is_open or behind == at + 1:  # a constant expression, or the braces of another dialect
        raise FileAccess("an assembler text that is no string", file, line)
    return behind, text


def _refuse_directives(text, file, line):
    if UNREADABLE.search(text):
        raise FileAccess(f"the assembler text {text[:40]!r}", file, line)
    for statement in re.split(r"[\n;]", text):
        rest = statement[LABELS.match(statement).end() :]
        if not rest or rest.startswith(("#", "//")):
            continue
        word = MNEMONIC.match(rest)
        is_directive = word is not None and word["directive"] is not None
        if word is None or ":" in rest or (is_directive and word["directive"] not in DIRECTIVES):
            raise FileAccess(f"the assembler text {rest[:40]!r}", file, line)
