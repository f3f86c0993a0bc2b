/**
 * What differs in each run although nothing changed. In a cassette, ids are `{{id 1}}`, `{{id 2}}` … in the order in which a request
 * names them, and times are `{{time}}`: two moments may be the same in one run and differ in another.
 */
const IDS =
  /\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}-\d{1,3})\b|(?<=<[a-z]{2,20}-)[0-9a-z]{12}(?=[ >])/g;

const TIMES = /\b\d{4}-\d{2}-\d{2}(?:T| )\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?/g;

/** The ids of one request, by the word that stands for each. */
export class VolatileIds {
  readonly #words = new Map<string, string>();
  readonly #more: readonly RegExp[];

  constructor(more: readonly RegExp[] = []) {
    this.#more = more.map(({ source, flags }) => new RegExp(source, flags.includes('g') ? flags : `${flags}g`));
  }

  /** The text of a request, in which ids and times are words. */
  hide(text: string): string {
    for (const pattern of [IDS, ...this.#more]) for (const [id] of text.matchAll(pattern)) this.#note(id);
    return this.#replaceIds(text).replaceAll(TIMES, '{{time}}');
  }

  /** The text of a reply: ids that the request has are words. Others came from the model, and stay. */
  hideKnown(text: string): string {
    return this.#replaceIds(text);
  }

  /** A text of the cassette, with the ids of this request. */
  show(text: string): string {
    if (!text.includes('{{id ')) return text;
    const ids = new Map([...this.#words].map(([id, word]) => [word, id]));
    return text.replaceAll(/\{\{id \d+\}\}/g, (word) => ids.get(word) ?? word);
  }

  #note(id: string): void {
    if (id !== '' && !this.#words.has(id)) this.#words.set(id, `{{id ${this.#words.size + 1}}}`);
  }

  #replaceIds(text: string): string {
    let hidden = text;
    for (const [id, word] of this.#words) if (hidden.includes(id)) hidden = hidden.replaceAll(id, word);
    return hidden;
  }
}

/** Changes every text of a JSON value, names of fields included. */
export function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [map(name), mapTexts(one, map)]));
}
