"""Secrets that stand in a known structure: key files, URLs, headers, connection strings, command lines."""

import re
from collections.abc import Callable
from typing import NamedTuple

from omoide.guard.secrets import values
from omoide.guard.secrets.patterns import compile_pattern


class Structure(NamedTuple):
    kind: str
    marks: tuple[str, ...]
    """One of these is in every text that can match, in small letters."""
    needs: str
    """And one of these characters."""
    pattern: str
    """A group named `value` is the secret itself, otherwise the whole match is."""
    is_real: Callable[[re.Match[str]], bool]


def _accept(_: re.Match[str]) -> bool:
    return True


def _is_password(value: str) -> bool:
    return not (values.is_reference(value) or values.is_filler(value) or values.is_word(value))


def _is_given(match: re.Match[str]) -> bool:
    """Any word may be a password; not so a placeholder."""
    return _is_password(match["value"])


def _is_given_to_user(match: re.Match[str]) -> bool:
    """Nor a user's name said twice, as local databases have it."""
    value, user = match["value"], match["user"] or ""
    if value.lower() == user.lower() or not _is_password(value):
        return False
    return not compile_pattern(r"\d{1,5}(?:/.*)?").fullmatch(value)


def _is_pair(match: re.Match[str]) -> bool:
    value = match["value"]
    return (
        values.is_strong(value)
        and not values.is_plain(value)
        and not values.is_term(match["user"])
        and _is_given_to_user(match)
    )


def _is_chosen(match: re.Match[str]) -> bool:
    value = match["value"]
    return values.is_strong(value) and _is_password(value) and not values.is_plain(value)


def _is_drawn(match: re.Match[str]) -> bool:
    value = match["value"]
    return values.is_random(value) and not values.is_reference(value) and not values.is_filler(value)


def _is_base64_login(match: re.Match[str]) -> bool:
    """Whether it is a name and a password in base64, as basic authentication has it."""
    import binascii  # lazy: seldom needed

    try:
        user, colon, password = binascii.a2b_base64(match["value"] + "==").decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):  # fallback: no text in base64, so no login
        return False
    if not colon or not (user + password).isprintable():
        return False
    return (
        bool(password or values.is_random(user)) and not values.is_filler(match["value"]) and _is_password(password or user)
    )


def _is_credential(match: re.Match[str]) -> bool:
    """Whether one part of a header's value looks random."""
    value = match["value"]
    if values.is_filler(value):
        return False
    parts = [part for part in compile_pattern(r"[\s,;=&\"':]+").split(value) if part]
    return any(values.is_random(part) and not values.is_reference(part) for part in parts)


def _is_cookie(match: re.Match[str]) -> bool:
    return any(
        values.is_random(value, 16) and not values.is_filler(value) and not values.is_reference(value)
        for name, _, value in (cookie.strip().partition("=") for cookie in match["value"].split(";"))
        if not name.startswith("_g")  # statistics
    )


def _is_seed(match: re.Match[str]) -> bool:
    words = match["value"].split()
    return len(set(words)) >= len(words) * 0.7 and sum(values.is_word(word) for word in words) <= 1


STRUCTURES: tuple[Structure, ...] = (
    Structure(
        "private key",
        ("private key",),
        "-",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,300}?[A-Za-z0-9+/]{40}[A-Za-z0-9+/=\s\\]*+"
        r"(?:-----END [A-Z0-9 ]{0,60}-----)?",
        lambda match: len(set(match[0].split("-----")[2])) > 12,
    ),
    Structure(
        "private key",  # a short body: Ed25519, or a part
        ("private key",),
        "-",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<value>[\s\\nr]{1,8}[A-Za-z0-9+/=\s\\]{24,200}+)-----END ",
        lambda match: values.is_random(match["value"].replace("\\n", "").strip(), 24),
    ),
    Structure(
        "private key",
        ("ssh2 encrypted private", "putty-user-key-file"),
        "-",
        r"(?:---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----[\s\S]{0,400}?[A-Za-z0-9+/]{40}[A-Za-z0-9+/=\s]*+"
        r"|PuTTY-User-Key-File-\d:[\s\S]{0,2500}?Private-Lines: ?\d+[A-Za-z0-9+/=\s]*+(?:Private-MAC: ?[0-9a-f]+)?)",
        _accept,
    ),
    Structure(
        "WireGuard key",
        ("privatekey", "presharedkey", "private key", "preshared"),
        "=",
        r"(?i)(?:private|pre-?shared)[-_ ]?key\s{0,4}[:=]\s{0,4}[\"']?(?P<value>[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)",
        lambda match: not values.is_filler(match["value"]),
    ),
    Structure(
        "private key",
        ('"kty"',),
        "\"",
        r"\"d\"\s{0,3}:\s{0,3}\"(?P<value>[A-Za-z0-9_-]{40,800})\"",
        _accept,
    ),
    Structure(
        "private key",
        ('"kty"',),
        "\"",
        r"\"k\"\s{0,3}:\s{0,3}\"(?P<value>[A-Za-z0-9_-]{20,400})\"",
        _is_drawn,
    ),
    Structure(
        "password in a URL",
        ("://",),
        "@",
        r"(?i)(?<![a-z0-9+.-])[a-z][a-z0-9+.:-]{1,24}://(?P<user>[!$-.0-9;=A-~]{0,64}):(?P<value>[!$-.0-;=A-~]{3,256})@",
        _is_given_to_user,
    ),
    Structure(
        "token in a URL",
        ("://",),
        "@",
        r"(?i)(?<![a-z0-9+.-])(?:https?|git|redis|rediss|nats"
        r"|ssh)://(?P<value>[A-Za-z0-9_.~-]{20,255})@(?![a-z0-9.-]*sentry)",
        _is_drawn,
    ),
    Structure(
        "password in a connection string",
        ("@tcp(", "@unix("),
        "@",
        r"(?<![A-Za-z0-9_.-])(?P<user>[\w.-]{1,40}):(?P<value>[^\s:@/\"'`]{3,128})@(?:tcp|unix)\(",
        _is_given_to_user,
    ),
    Structure(
        "password in a connection string",
        ("jdbc:oracle", "sqlplus", "@//", "sqlldr", "expdp", "impdp"),
        "@",
        r"(?i)(?:jdbc:oracle:\w{1,8}:|sqlplus\s(?:-\w+\s){0,3}|sqlldr\s|expdp\s|impdp\s|(?<![\w/]))"
        r"[\"']?(?P<user>[a-z]\w{1,30})/(?P<value>[^\s/@\"']{4,64})[\"']?@(?://)?[\w.-]+[:/]",
        _is_given_to_user,
    ),
    Structure(
        "password in a connection string",
        ("password=", "pwd=", "password =", "pwd ="),
        "=",
        r"(?i)(?:;|[\"'])\s?(?:password|pwd)\s?=\s?(?P<value>[^\s;\"']{4,128})\s{0,2}(?:;|[\"']|$)",
        _is_given,
    ),
    Structure(
        "signed URL",
        ("sig=", "signature="),
        "=",
        r"(?i)[?&](?:sig|signature|x-amz-signature|x-goog-signature)=(?P<value>[A-Za-z0-9%+/_~=-]{20,800})",
        _is_drawn,
    ),
    Structure(
        "key in a URL",
        ("?key=", "&key=", "?code=", "&code=", "token=", "auth=", "?sv=", "secret=", "apikey=", "api_key="),
        "=",
        r"(?i)[?&](?:key|code|auth|token|access_token|id_token|api_?key|secret|client_secret|auth_token)="
        r"(?P<value>[A-Za-z0-9%+/_.~=-]{20,800})",
        _is_drawn,
    ),
    Structure(
        "one-time password secret",
        ("otpauth://",),
        "?",
        r"(?i)otpauth://[ht]otp/[^\s\"'?]{0,200}\?[^\s\"']{0,200}?secret=(?P<value>[a-z2-7]{12,128})",
        lambda match: not values.is_filler(match["value"]),
    ),
    Structure(
        "basic authentication",
        ("basic ",),
        " ",
        r"(?i)\bbasic\s{1,3}(?P<value>[A-Za-z0-9+/]{8,400}={0,2})(?![A-Za-z0-9])",
        _is_base64_login,
    ),
    Structure(
        "bearer token",
        ("bearer ", "bearer\"", "bearer:"),
        " ",
        r"(?i)\bbearer[\"':\s]{1,4}(?P<value>[A-Za-z0-9+/_.~=|-]{12,2000})",
        _is_drawn,
    ),
    Structure(
        "authorization header",
        ("authorization",),
        ":=,",
        r"(?i)authorization[\"'\]`*]{0,3}\s{0,3}(?:=>|[:=,])\s{0,3}(?:[fb]?[\"'`])?(?!basic\b)"
        r"(?:[a-z][\w-]{2,24}\s{1,3})?(?P<value>[A-Za-z0-9+/_.~=-][^\n`]{11,2000})",
        _is_credential,
    ),
    Structure(
        "session cookie",
        ("cookie",),
        "=",
        r"(?i)\bcookie[\"']?\s{0,2}[:=,]\s{0,2}[\"']?(?P<value>[\w.-]{1,60}=[^\n\"']{8,2000})",
        _is_cookie,
    ),
    Structure(
        "session cookie",
        ("sessid", "sessionid", "connect.sid", "_session", "session=", "sid=", "session_id", "laravel_session"),
        "=",
        r"(?i)(?<![A-Za-z0-9])(?:phpsessid|jsessionid|(?:asp\.net_)?sessionid|connect\.sid|\w{0,30}_session|session"
        r"|sid|session_?id|"
        r"session_?token)=(?P<value>[A-Za-z0-9%+/_.~:-]{16,600})",
        _is_drawn,
    ),
    Structure(
        "password in a command",
        ("curl", "wget"),
        "-/|:",
        r"\b(?:curl|wget)\b[^\n]{0,160}?\s(?:-u|--user|--proxy-user|-U)[ =]{0,2}[\"']?"
        r"(?P<value>[\w.+-]{16,255}):(?=[\"'\s])",
        _is_drawn,
    ),
    Structure(
        "password in a command",
        ("curl", "wget"),
        "-",
        r"\b(?:curl|wget)\b[^\n]{0,160}?\s(?:-u|--user|--proxy-user|-U)[ =]{0,2}[\"']?"
        r"(?P<user>[\w.@+-]{1,80}):(?P<value>[^\s\"':]{3,255})",
        _is_given_to_user,
    ),
    Structure(
        "password in a command",
        ("-u", "--user", "--auth", "-a "),
        "-/|:",
        r"(?:(?<![^\s])(?:-u|--user)|\bhttps?\s[^\n]{0,60}?(?:-a|--auth))[ =]{0,2}[\"']?"
        r"(?P<user>[\w.@+-]{1,80}):(?P<value>[^\s\"':]{3,255})",
        _is_pair,
    ),
    Structure(
        "password in a command",
        ("mysql", "mariadb"),
        "-/|:",
        r"(?:mysql|mariadb)(?:dump|admin|import|sh|show|check)?\b[^\n"
        r"|;]{0,200}?\s-p(?P<quote>[\"']?)(?P<value>[^\s\"'\n]{3,128})",
        _is_given,
    ),
    Structure(
        "password in a command",
        ("sshpass", "docker", "podman", "az ", "mongo", "helm", "sqlcmd", "7z", "zip", "redis-cli", "ldap", "oc ",
         "skopeo", "bcp ",
         "rar", "xfreerdp", "isql", "mosquitto", "cqlsh", "ipmitool", "twine", "buildah"),
        "-/|:",
        r"\b(?:sshpass\s(?=-p)|(?:docker|podman|helm|oc|skopeo|az|buildah)\s[^\n|;]{0,120}?login\b[^\n|;]{0,120}?\s(?=-p)"
        r"|mongo(?:sh|dump|restore|export|import)?\s[^\n|;]{0,160}?(?=-p)|7z\s[^\n|;]{0,60}?(?=-p)|rar\s[^\n"
        r"|;]{0,60}?(?=-h?p)"
        r"|(?:sqlcmd|bcp|zip|unzip|isql|mosquitto_\w+)\s[^\n|;]{0,160}?(?=-P)|redis-cli\s[^\n|;]{0,120}?(?=-a\s)"
        r"|ldap\w+\s[^\n|;]{0,160}?(?=-w\s)|twine\s[^\n|;]{0,80}?(?=-p)|cqlsh\s[^\n|;]{0,80}?(?=-p)|ipmitool\s[^\n"
        r"|;]{0,100}?(?=-P)"
        r"|xfreerdp\s[^\n|;]{0,120}?(?=/p:))(?:-h?[pPaw]\s?|/p:)[\"']?(?P<value>[^\s\"'\n]{3,128})",
        _is_given,
    ),
    Structure(
        "password in a command",
        ("smbclient", "rpcclient", "winexe"),
        "-/|:",
        r"\b(?:smbclient|rpcclient|winexe)\s[^\n|;]{0,160}?-U\s?[\"']?(?P<user>[\w.\\-]{1,60})%(?P<value>[^\s\"'\n]{3,128})",
        _is_given_to_user,
    ),
    Structure(
        "password in a command",
        ("htpasswd",),
        "-/|:",
        r"\bhtpasswd\s(?:-\w+\s){0,3}\S{1,100}\s(?P<user>[\w.@-]{1,60})\s[\"']?(?P<value>[^\s\"'\n]{4,128})",
        _is_given_to_user,
    ),
    Structure(
        "password in a command",
        ("chpasswd", "passwd", "sudo -s", "password-stdin", "login", "requirepass"),
        "-/|:",
        r"\becho\s(?:-n\s)?(?P<quote>[\"']?)(?:[\w.-]{1,40}:)?(?P<value>[^\s\"'|]{4,128})(?P=quote)\s{0,2}\|\s{0,2}"
        r"(?:sudo\s{1,2}(?:-S|chpasswd)|chpasswd|passwd\s|[^\n|]{0,120}--password-stdin)",
        _is_given,
    ),
    Structure(
        "password in a command",
        ("net use", "cmdkey"),
        "-/|:",
        r"(?i)\b(?:net use\s[^\n]{0,120}?\s(?P<value>[^\s/\\*]{4,64})\s/user:|cmdkey\s[^\n]{0,120}?/pass:[^\s]{4,64})",
        lambda match: match["value"] is None or _is_password(match["value"]),
    ),
    Structure(
        "password in a command",
        ("pass:", "passin", "passout"),
        "-/|:",
        r"(?i)\bpass(?:in|out)?\s{0,1}[\"']?pass:(?P<value>[^\s\"']{4,128})",
        _is_given,
    ),
    Structure(
        "password in SQL",
        ("identified by", "identified with", " password '", "set password", "encrypted password"),
        "'\"",
        r"(?i)\b(?:identified\s(?:with\s\S{1,40}\s)?(?:by|as)|(?:encrypted\s|with\s|user\s\S{1,60}\s"
        r"|role\s\S{1,60}\s|login\s)password|"
        r"set\s{1,2}password\s(?:for\s\S{1,60}\s)?=)\s{1,3}(?:PASSWORD\()?['\"](?P<value>[^'\"\n]{3,128})['\"]",
        lambda match: _is_given(match) and not match["value"].startswith(("*", "$", "md5", "SCRAM")),
    ),
    Structure(
        "password in a file",
        (":5432:", ":*:", ":5433:", ":6432:"),
        " :",
        r"(?m)^(?:[\w.*-]{1,100}):(?:\d{2,5}"
        r"|\*):[\w.*-]{1,64}:(?P<user>[\w.*@-]{1,64}):(?P<value>[^\s:]{4,128})$",  # .pgpass
        lambda match: _is_given_to_user(match) and not values.is_plain(match["value"]),
    ),
    Structure(
        "password in a file",
        ("requirepass", "masterauth", "enable secret", "enable password", "rootpw"),
        " :",
        r"(?im)^[ \t]*(?:requirepass|masterauth|enable (?:secret|password)(?: [057])?|rootpw)[ \t]{1,8}"
        r"(?P<quote>[\"']?)(?P<value>[^\s\"'#{]{4,128})",
        _is_given,
    ),
    Structure(
        "password in code",
        ("basicauth", "auth=(", "auth = (", ".auth(", "basic_auth(", "login(", "securestring", "credentials(", "credential(",
         "setbasicauth"),
        "'\"",
        r"(?i)(?:HTTPBasicAuth|HTTPDigestAuth|\bauth\s?=\s?|\.auth|basic_?auth|set_?basic_?auth|\.login|credentials?|"
        r"UsernamePasswordCredentials?)"
        r"\(\s?[\"'](?P<user>[^\"'\n]{1,80})[\"']\s?,\s?[\"'](?P<value>[^\"'\n]{3,128})[\"']",
        _is_given_to_user,
    ),
    Structure(
        "password in code",
        ("securestring",),
        "'\"",
        r"(?i)ConvertTo-SecureString\s(?:-String\s)?[\"'](?P<value>[^\"'\n]{4,128})[\"']",
        _is_given,
    ),
    Structure(
        "login",
        ("log in", "login", "logged in", "logging in", "sign in", "signin", "credential", "creds", "account", "basic auth",
         "ログイン",
         "サインイン", "認証情報", "アカウント", "basic認証", "basic 認証", "ベーシック認証", "管理画面",
         "id/", "id・", "user/", "接続情報", "ユーザー"),
        "/:、・",
        r"(?i)(?:log(?:ged|ging)?[- ]?in|sign(?:ed|ing)?[- ]?in|credentials?|creds|account|basic auth(?:entication)?"
        r"|ログイン|サインイン|"
        r"認証情報|アカウント|basic ?認証|ベーシック認証|管理画面|ID ?[/・] ?(?:PW|pass\w*|パスワード)"
        r"|user(?:name)?/pass\w*|接続情報|ユーザー[/・]パスワード)"
        r"[^\n\"「『`。/:]{0,40}?[\s\"'「『`：:はがを(（=、]{1,4}"
        r"(?P<user>[A-Za-z][\w.@+-]{1,60})[」』\"'`]?(?:\s{0,2}/\s{0,2}|:\s?|\s?／\s?|\s?：\s?|\s{1,2}・\s{1,2}"
        r"|、)[「『\"'`]?"
        r"(?P<value>[^\s\"'`「」『』、。（）()]{6,128})",
        _is_pair,
    ),
    Structure(
        "login",
        ("でログイン", "でサインイン", "でlogin", "to log in", "to login", "to sign in", "でアクセス", "で入れ"),
        "/:、・",
        r"(?<![\w./:-])(?P<user>[A-Za-z][\w.@+-]{1,60})(?:\s{0,2}/\s{0,2}|:\s?|／|：)"
        r"(?P<value>[!-~]{6,128}?)[」』\"'`]?\s{0,2}(?:という\S{1,12}|の\S{1,8})?"
        r"(?:でログイン|でサインイン|でlogin|to log ?in|to sign in|でアクセス|で入れ)",
        _is_pair,
    ),
    Structure(
        "login",
        ("admin/", "admin:", "admin /", "root/", "root:", "root /", "postgres/", "postgres:"),
        "/:",
        r"(?<![\w./@:-])(?:admin|root|administrator|postgres)(?:\s?/\s?|:)(?P<value>[^\s\"'`「」『』、。（）()/:@]{8,64})(?![/\w:@])",
        lambda match: _is_chosen(match) and compile_pattern(r"\d.*\d|[!#$%^&*?@+~]").search(match["value"]) is not None,
    ),
    Structure(
        "seed phrase",
        ("seed", "mnemonic", "recovery phrase", "シード", "リカバリーフレーズ", "リカバリフレーズ", "ニーモニック",
         "復元フレーズ",
         "backup phrase",
         "secret phrase"),
        " ",
        r"(?i)(?:seed(?: phrase| words)?|mnemonic(?: phrase)?|recovery phrase|backup phrase|secret phrase"
        r"|シード(?:フレーズ)?|"
        r"リカバリーフレーズ|リカバリフレーズ|ニーモニック|復元フレーズ)[^a-z\n]{0,20}(?:is |are |for [a-z ]{1,20}is"
        r" )?[^a-zA-Z\n]{0,12}\n?"
        r"(?P<value>[a-z]{3,8}(?:\s[a-z]{3,8}){11,23})",
        _is_seed,
    ),
)  # a table  # fmt: skip
