"""What a value looks like: random, chosen as a password, or a placeholder, reference, type, path or hash."""

from omoide.guard.secrets.patterns import compile_pattern

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_ASSIGNERS = ("=", ":", '"', "`", "「", "『", "“", "<", "|")
_CANDIDATE = (
    r"(?<![!-~])(?:(?=[!-~]{0,80}?\d)(?=[!-~]{0,80}?[A-Za-z#$%&*@!?])[!-~]{5}|\d{4}|'\S{4}|-[pPawu]|[!-~]{0,20}?[a-z][A-Z]"
    r"|[!-~]{2,20}?-[a-z]+-[a-z]+-|[!-~]{0,30}?[A-Za-z][#$%&*@+][A-Za-z])"
)


def words(text: str) -> tuple[str, ...]:
    """A list of words, written as one text: easier to read and to add to."""
    return tuple(text.split())


def has_candidate(text: str) -> bool:
    """Whether there is something that can be a secret, or that assigns one. Most sentences hold nothing of the kind."""
    for sign in _ASSIGNERS:
        if sign in text:
            return True
    return compile_pattern(_CANDIDATE).search(text) is not None


# A documentation sample is recognised by a part of it, so that no whole key stands in this file.
_SAMPLES = words(
    "IOSFODNN7 wJalrXUtnFEMI 4eC39HqLyjWDarjtT1zdp7dc SyDaGmWKa4JsXZ eyJzdWIiOiIxMjM0NTY3ODkw mF_9.B5f-4"
    " QWxhZGRpbjpvcGVu 2YotnFZFEjr1zCsicMWpAA tGzv3JOkF0XG5Qx2TlKWIA czZCaGRSa3F0Mzp AAHdqTcvCH1vGWJx"
    " Eby8vdM02xNOcqFlqUwJ C2y6yDjf5/R+ob0N8A7C JBSWY3DPEHPK3PXP HXDMVJECJJWSRB3H ABC-DEF1234ghIkl"
    " MTIzNDU2Nzg5MDEyMzQ1Njc4 BQokikJOvBiI2HlWgH4olfQ2 T00000000/B00000000 SlAV32hkKG tR7zsxRfiCYEXAMPLE"
    " dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk 6629fae49393a05397450978507c4ef1 AJKDGOEIGOsidj"
)
# Words that people put where a secret would stand; of three letters and more, so that chance does not write them.
_FILLERS = words(
    "example sample placeholder redacted dummy your_ your- yourkey yourapi yourtoken yoursecret yourpass"
    " yourname youraccess insert replace changeme changeit change-me change_me changethis change-this"
    " change_this notreal not-a-real not_a_real fake **** .... … •••• ●●● ＊＊＊ _____ ----- <your goes-here"
    " goes_here goeshere _here -here my-api-key my_api_key mysecretkey my-secret-key my_secret_key my-token"
    " my_token masked removed omitted hidden abcxyz"
)
_RUNS = ("12345678", "01234567", "abcdefgh", "98765432", "abc123")


def is_filler(value: str) -> bool:
    """Whether a token stands for another: a word such as `example`, one character again and again, a row of the alphabet."""
    lowered = value.lower()
    if any(word in lowered for word in _FILLERS) or any(part in value for part in _SAMPLES):
        return True
    if lowered.startswith("your"):
        return True
    if "xxxx" in value or "XXXX" in value:  # not in both cases: chance writes that in a long token
        return True
    if len(value) >= 8 and len(set(lowered)) <= 3:
        return True
    return any(run in lowered for run in _RUNS)


def is_uuid(value: str) -> bool:
    return compile_pattern(_UUID).fullmatch(value) is not None


def is_random(value: str, least: int = 12) -> bool:
    """Whether it looks generated at random rather than written by a person, as a name with hyphens is."""
    if len(value) < least:
        return False
    if is_uuid(value):
        return False
    irregular = sum(len(part) for part in compile_pattern(r"[-_./:=,@~%+|]").split(value) if _is_irregular(part))
    return irregular >= max(6, 0.4 * len(value))


def is_mixed(value: str) -> bool:
    """Whether it has small letters, capitals and digits, as names with hyphens mostly have not."""
    return all(compile_pattern(letters).search(value) for letters in ("[a-z]", "[A-Z]", "[0-9]"))


def _is_irregular(part: str) -> bool:
    """Whether letters, capitals and digits change more often than in words, names and numbers."""
    if len(part) < 3:
        return False
    changes = humps = 0
    before = part[0]
    capitals = before.isupper()
    for character in part[1:]:
        changes += character.isdigit() is not before.isdigit()
        if character.isupper():
            humps += before.islower()
            capitals = True
        before = character
    if any(character.isdigit() for character in part):
        if changes >= 3 and (len(part) >= 8 or humps or capitals):
            return True
        return (changes >= 2 and (humps > 0 or len(part) >= 16)) or (changes >= 1 and humps >= 2)
    if len(part) < 10 or compile_pattern(r"[a-z]*(?:[A-Z][a-z]+)*").fullmatch(part):
        return False
    pieces = compile_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+").findall(part)
    return len(pieces) >= 4 and len(part) / len(pieces) < 3.6


_NO_VALUE = (
    r"(?i)^(?:"
    r"<[\w\s/:,*.…-]*>?|\$\w+|\$[A-Z_][A-Z0-9_]*[/.:].*|\$[({].*|%\w+%|%[sdv]|%\(.*|\{.*|\[[\w\s:,*.…-]*\]?"
    r"|\([\w\s,.'\"-]*\)?"  # <key>, $KEY, %KEY%, {{ key }}, [key]
    r"|.*(?:\$\{|\{\{|\$\(|<%|#\{).*"
    r"|\*+|x+|\.+|-+|_+|•+|●+|\?+|#+|0+|1+|n/?a|none|null|nil|undefined|void|true|false|yes|no|on|off|empty|todo|tbd|fixme|"
    r"foo|bar|baz|foobar|qux|hoge|fuga|piyo|hogehoge|test|testing|demo|default|"
    r"(?:my|the|new|old|user|db|test|admin|some|any|a|this|that|current|correct|wrong|same|api|app|root|super|secure"
    r"|strong|plain"
    r"|hashed|raw|client|access|auth|secret|private|mysql|postgres)?[-_ ]?"
    r"(?:password|passwd|passphrase|passcode|pass|passw|pwd|pw|secret|secrets|token|tokens|key|keys|api_?-?key|credential|"
    r"credentials|pin|value|string|word)[-_]?\d?"
    r"|(?:self|this|req|request|res|response|config|settings|options|opts|args|env|ctx|context|params|data|body|user"
    r"|process|os|"
    r"secrets|vars?|vault|inputs|steps|github|event|state|props|values|local|data|module|each|app)(?:\.|\[|->|::|\?\.).*"
    r"|(?:vault|op|ssm|secretsmanager|awssm|gcpsm|akv|keyring|keychain|file|env|sops|ref\+\w+|doppler|bws|pass"
    r"|azurekeyvault)://?.+"
    r"|(?:vault|env|file|ssm|var|ref|secret|fromenv):[\w./#-]+"
    r"|arn:aws.*|projects/[\w-]+/secrets/.*|!\w+.*|@[\w.]+\(.*"
    r"|environ\b.*|getenv\b.*|env\(.*|lookup\(.*|fetch\(.*"
    r"|(?:b?crypt|scrypt|argon2\w*|pbkdf2\w*|sha-?\d+|sha|md5|hmac\w*|ssha)(?:[:$${(-].*)?|\$\w{1,12}\$.*|\{\w+\}.*"
    r"|(?:min|max|len|length|size|required|minlength|maxlength)\W.*"
    r")$"
)
_CODE = (
    r"^(?:"
    r"[A-Za-z_][\w.]*(?:::\w+)*\s?\(.*"  # a call
    r"|[A-Za-z_][\w.]*\[.*"  # an item, a generic type
    r"|(?![a-z]+\.[a-z]+\d{2,}$)[A-Za-z_]\w{0,40}(?:(?:\.|->|::"
    r"|\?\.)[A-Za-z_]\w{0,40})+\W?"  # settings.API_KEY_2: a place, not a value
    r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"  # the name of a variable
    r"|[a-z]+(?:_[a-z]+)+\d?"
    r"|[a-z]+(?:[A-Z][a-z]+)+\d?"
    r"|&?\w+\{.*"
    r")$"
)
_TYPES = (
    r"(?i)^(?:str|string|text|bytes?|char|varchar|nvarchar|char\d*|int\w*|integer|number|bool|boolean|float|object"
    r"|array|list|dict|"
    r"uuid\w*|blob|bytea|json\w*|any|optional|nullable|secretstr|securestring|option<.*|vec<.*|void|unknown|never|clob|"
    r"\w+\[\]|u8|\w+\|\w+)[?;,]?$"
)
_PLACES = (
    r"^(?:"
    r"~?\.{0,2}/[^!#$%^&*=]*|[A-Za-z]:\\.*|\\\\.*"  # paths
    r"|[\w@.-]{1,60}(?:/[\w@.{}*-]{1,60}){1,8}/?(?:#\w+)?"
    r"|[A-Za-z][A-Za-z0-9+.-]{1,15}://.*"  # a URL
    r"|[\w.+-]{1,64}@[\w-]{1,40}(?:\.[\w-]{1,30})*\.[a-z]{2,10}"  # an address
    r"|(?:[a-z0-9-]{1,40}\.)+[a-z]{2,10}(?::\d{1,5})?"  # a host
    r"|localhost(?::\d{1,5})?|\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?"
    r"|[\w.-]{1,80}\.(?i:pem|key|json|ya?ml|toml|env|txt|md|py|[jt]sx?|go|rs|rb|java|kt|sh|ini|cfg|conf|gpg|age|enc"
    r"|crt|cer|p12|pfx"
    r"|jks|kdbx|db|sqlite3?|lock|html?|css|xml|csv|log|tf|tfvars|vue|php|cs|cpp|[ch]|swift|sql|asc|pub|der|sops"
    r"|properties|vault|zip)"
    r"|\.env(?:\.\w+)?"
    r")$"
)
_NUMBERS = (
    r"(?i)^(?:"
    r"v?\d+(?:\.\d+)+(?:[-+.][0-9a-z.]+)?"  # a version
    r"|v\d+|\d{1,4}[-/]\d{1,2}(?:[-/]\d{1,4})?(?:t[\d:.]+z?)?|\d{1,2}:\d{2}(?::\d{2})?"  # a date, a time
    r"|[\d,._]*\d\s?(?:%|ms|s|sec|secs?|seconds?|m|min|mins|minutes?|h|hours?|d|days?|weeks?|months?|years?|k|kb|mb"
    r"|gb|bytes?|bits?"
    r"|chars?|characters?|digits?|letters?|times?|x|rounds|tokens?|文字.*|桁.*|日.*|分.*|秒.*|回.*|件.*|個.*)"
    r"|(?-i:[A-Z]{2,10}-\d{1,6})|#\d+|rfc-?\d+|cve-\d+-\d+|iso-?\d+|nist.*|sp800-\d+\w*|[~<>=]+\d+\w*|\d+[-~]\d+\w*"
    r"|(?:[0-9a-f]{2}:){5}[0-9a-f]{2}"  # a network card
    r")$"
)
_JARGON = (
    r"(?i)^(?:\d?password|1password\w*|oauth-?\d?(?:\.\d)?|oidc|saml\d?(?:\.\d)?|jwt|webauthn|fido-?2|totp|hotp"
    r"|[mt]?2?fa|mfa|u2f|"
    r"(?:hs|rs|es|ps|eddsa)-?\d{0,3}|aes-?\d*\w*(?:-\w+)*|rsa-?\d*|ecdsa.*|ed25519|x25519|p-?256|secp256[kr]1"
    r"|curve25519|chacha20.*|"
    r"base-?(?:16|32|58|62|64)\w*(?:-\w+)*|utf-?(?:8|16)|ascii|sha-?[0-9/]+(?:[-_].*)?|md5.*|argon2\w*(?:[-_/(].*)?"
    r"|pbkdf2.*|bcrypt.*|"
    r"scrypt.*|hmac.*|blake\w+|crc32|"
    r"s3|ec2|rds|k8s|gke|eks|ga4|gpt-?\d.*|claude-?\d.*|cl100k.*|o200k.*|es\d{1,4}|ipv[46]|http/?[123](?:\.\d)?|"
    r"tls-?v?1(?:\.\d)?|python-?\d.*|node-?\d.*|java-?\d+|php-?\d.*|log4j\d?|web3|web2|i18n|l10n|a11y|b2b|b2c|p2p"
    r"|mp[34]|h26[45]|"
    r"level-?\d|phase-?\d|step-?\d|part-?\d|v\d+\w{0,6}|sprint-?\d+|issue-?\d+|pr-?\d+|q[1-4]|win(?:dows)?-?\d+"
    r"|office-?365|m365|"
    r"microsoft-?365|log-?in|sign-?in|read-?only|write-?only|case-?sensitive|end-to-end.*|[a-z]+-(?:based|encoded"
    r"|encrypted|hashed|"
    r"protected|only|less|free|specific|generated|provided|sensitive|safe|manager|reset|policy|store|name|id|file|hash)|"
    r"us-(?:east|west)-\d|(?:eu|ap)-\w+-\d|ubuntu.*|debian.*|postgres(?:ql)?-?\d*|mysql-?\d*|redis-?\d*|argon|vault"
    r"|bitwarden|keepass"
    r"\w*|lastpass|keychain|dashlane)$"
)
# Words that follow the name of a credential in sentences, forms and schemas, and are none.
_WORDS = frozenset(
    words(
        "required optional string text none null hidden masked hash hashed encrypted encoded plain plaintext invalid "
        "missing wrong incorrect expired expires reset change changed changes field input type rotated revoked stored "
        "saved kept set unset empty correct valid the a an and or not in on at for from to of by with is are was were "
        "be been being it its this that same different secret secrets password passwords passwd token tokens key keys "
        "value values name user username admin prompt argon bcrypt scrypt sha md vault env environment file disabled "
        "enabled enable disable true false default example sample placeholder changeme your length policy manager "
        "protected protection based auth authentication authorization bearer basic digest oauth required! mandatory "
        "forbidden allowed deprecated rejected accepted ignored removed deleted updated created generated random "
        "unknown undefined nullable varchar char bytes integer number boolean object array list map dict any public "
        "private internal external sensitive confidential needed shared unique strong weak short long blank visible "
        "redacted omitted replace insert here todo tbd foo bar baz test testing demo dummy please enter type confirm "
        "confirmation repeat login logout signin signup forgot forgotten recovery rotation expiry lifetime must "
        "should may can cannot will has have had let const var return await async def func function new void static "
        "final self super class struct interface hoge fuga piyo email mail phone number id ids uuid json yaml toml "
        "base hex utf ascii salted peppered guest anonymous refused matched mismatch match matches mismatched leaked "
        "exposed compromised locked cached signed verified unchanged safe unsafe again already never always only also "
        "still now then there available unavailable present absent ready failed fails works worked missing! gone lost "
        "found used unused reused using use too very quite longer shorter "
    )
)


def is_reference(value: str) -> bool:
    """Whether it is a placeholder, or says where the secret is rather than what it is."""
    return bool(compile_pattern(_NO_VALUE).match(value) or compile_pattern(_TYPES).match(value))


def is_word(value: str) -> bool:
    """Whether it is a word of sentences, forms and schemas about credentials."""
    return value.lower().strip("!?.,;:") in _WORDS


def is_plain(value: str) -> bool:
    """Whether it is something else than a secret: code, a path, a host, a version, a date, a technical term."""
    if (
        compile_pattern(_NUMBERS).match(value)
        or compile_pattern(_JARGON).match(value)
        or compile_pattern(_CODE).match(value)
    ):
        return True
    return bool(compile_pattern(_PLACES).match(value)) and not is_random(value, 20)


def is_term(value: str) -> bool:
    """Whether it is a technical term, a version, a date or a number with its unit."""
    return bool(compile_pattern(_NUMBERS).match(value) or compile_pattern(_JARGON).match(value))


def is_strong(value: str) -> bool:
    """Whether it looks like a password that somebody chose: letters with digits or signs, or signs and digits."""
    letters = compile_pattern(r"[A-Za-z]").search(value) is not None
    digits = compile_pattern(r"\d").search(value) is not None
    signs = compile_pattern(r"[!@#$%^&*?+=~|]").search(value) is not None
    others = compile_pattern(r"[-_.,:;/()<>\[\]{}']").search(value) is not None
    if letters and digits:
        return len(value) >= 6 or (len(value) >= 5 and (signs or others))
    if letters and signs:
        return len(value) >= 5 and not compile_pattern(r"[A-Za-z]+[!?=]+|[!?=@]+[A-Za-z]+").fullmatch(value)
    return digits and signs and len(value) >= 6
