import type { ExampleHints } from './example-hints.ts';

/** A text for a field: of its format, after its pattern, or of what somebody asked for, in the bounds of its length. */
export function exampleText(schema: { readonly [keyword: string]: unknown }, key: string, hints: ExampleHints): string {
  const { format, pattern, minLength, maxLength } = schema;
  const formatted = typeof format === 'string' ? ofFormat(format, hints.now) : undefined;
  if (formatted !== undefined) return formatted;
  const bounds = { least: numberOf(minLength, 0), most: numberOf(maxLength, Number.POSITIVE_INFINITY) };
  const hinted = [isPlace(key) ? placeIn(hints.text) : undefined, hints.text].filter(
    (one) => one !== undefined && one !== '',
  );
  const candidates = [...(hinted as string[]), ...PLAIN].map((one) => fitLength(one, bounds));
  const matches = toTest(pattern);
  return candidates.find(matches) ?? candidates[0] ?? '';
}

/** The name after "in", "to", "for" and the like: the end of a question is where places are. */
function placeIn(text: string): string | undefined {
  const name = String.raw`\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)*`;
  return new RegExp(String.raw`\b(?:in|at|to|for|near|from|of) (${name})`, 'u').exec(text)?.[1];
}

function isPlace(key: string): boolean {
  return /city|town|location|place|destination|where|region|country|address/i.test(key);
}

// Tried in this order where a pattern asks for something else.
const PLAIN = [
  'example',
  'Example',
  'EXAMPLE',
  'a',
  'A',
  '1',
  '12345',
  'a1',
  'A-1',
  'AB-12',
  '2026-01-01',
  '12:00',
  '+15550100',
  '#aabbcc',
  '1.0.0',
  '',
];

function fitLength(text: string, { least, most }: { readonly least: number; readonly most: number }): string {
  const characters = [...text].slice(0, most);
  const short = least - characters.length;
  return characters.join('') + (short > 0 ? 'x'.repeat(Math.min(short, 10_000)) : '');
}

function toTest(pattern: unknown): (text: string) => boolean {
  if (typeof pattern !== 'string') return () => true;
  try {
    const compiled = new RegExp(pattern, 'u');
    return (text) => compiled.test(text);
  } catch {
    return () => true;
  }
}

function ofFormat(format: string, now: number): string | undefined {
  const iso = new Date(now).toISOString();
  const examples: Readonly<Record<string, string>> = {
    date: iso.slice(0, 10),
    'date-time': iso,
    time: iso.slice(11),
    duration: 'PT1H',
    email: 'someone@example.com',
    hostname: 'example.com',
    ipv4: '192.0.2.1',
    ipv6: '2001:db8::1',
    uri: 'https://example.com/',
    'uri-reference': '/example',
    uuid: '00000000-0000-4000-8000-000000000000',
  };
  return Object.hasOwn(examples, format) ? examples[format] : undefined;
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
