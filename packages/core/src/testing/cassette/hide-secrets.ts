/**
 * Replaces secrets in texts: those that are given, and everything that looks like a key of a well-known service, a bearer token, a JSON web
 * token or a private key. A cassette is committed and shared.
 */
export function hideSecrets(given: readonly string[] = []): (text: string) => string {
  // The longest first, because one secret may be the beginning of another.
  const values = given.filter((one) => one !== '').toSorted((one, other) => other.length - one.length);
  const forms = new Set(values.flatMap((one) => [encodeURIComponent(one), ...jsonForms(one)]));
  return (text) => {
    let hidden = text;
    for (const form of forms) if (hidden.includes(form)) hidden = hidden.replaceAll(form, SECRET);
    for (const pattern of LOOKS_SECRET) hidden = hidden.replaceAll(pattern, SECRET);
    return hidden;
  };
}

/** JSON is often a text in JSON: of a service, of the tool that calls it, and of the tool's output. Each adds backslashes. */
function jsonForms(text: string): readonly string[] {
  const forms = [text];
  for (let last = text; forms.length <= 3; forms.push(last)) last = JSON.stringify(last).slice(1, -1);
  return forms;
}

const SECRET = '[secret]';

const LOOKS_SECRET: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
  /(?<=\b[Bb]earer )[\w.~+/-]{16,}=*/g,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/g,
  /\b(?:sk|pk|rk)[-_](?:[a-z]+[-_])*[A-Za-z0-9]{16,}[\w-]*/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|whsec_|AIza|lc_)[\w-]{16,}/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
];
