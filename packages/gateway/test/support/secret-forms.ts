/** The forms in which a server might repeat a secret, between other text. */
export function formsOf(
  secret: string,
  { before = '', after = '' }: { readonly before?: string; readonly after?: string } = {},
): [name: string, text: string][] {
  const whole = `${before}${secret}${after}`.toWellFormed();
  const base64 = [0, 1, 2].map((shift) => Buffer.from(`${'x'.repeat(shift)}${secret}${after}`).toString('base64'));
  const percent = encodeURIComponent(secret);
  return [
    ['plain', whole],
    ['JSON', JSON.stringify(whole)],
    ['JSON in JSON', JSON.stringify(JSON.stringify(whole))],
    ['JSON of ASCII', unicodeEscaped(secret)],
    ['percent-encoded', `${encodeURIComponent(before.toWellFormed())}${percent}`],
    ['percent-encoded in lower case', percent.replace(/%../g, (one) => one.toLowerCase())],
    ['percent-encoded twice', encodeURIComponent(percent)],
    ['percent-encoded throughout', Buffer.from(secret).toString('hex').replace(/../g, '%$&')],
    ['of a form', new URLSearchParams({ a: secret }).toString()],
    ...base64.map((text, shift): [string, string] => [`base64 from ${shift}`, text]),
    ...base64.map((text, shift): [string, string] => [
      `url-safe base64 from ${shift}`,
      text.replace(/\+/g, '-').replace(/\//g, '_'),
    ]),
    ['wrapped base64', (base64[0] ?? '').replace(/.{5}/g, '$&\r\n')],
    ['hexadecimal', Buffer.from(secret).toString('hex')],
    ['HEXADECIMAL', Buffer.from(secret).toString('hex').toUpperCase()],
  ];
}

function unicodeEscaped(text: string): string {
  return Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
    '',
  );
}
