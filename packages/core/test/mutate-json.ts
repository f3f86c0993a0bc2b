/** Numbers from 0 up to but not including 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Holder = Record<string, unknown> | unknown[];

interface Place {
  readonly holder: Holder;
  readonly key: string;
  readonly path: string;
}

const WRONG: readonly unknown[] = [null, 0, -1, 1.5, 1e9, '', 'x', '__proto__', true, false, [], {}, [null], { a: 1 }];

/** A copy of the JSON with one to three faults, and what they are. */
export function mutated<T>(json: T, seed: number): { readonly json: T; readonly faults: string } {
  const random = seeded(seed);
  const box: { json: unknown } = { json: structuredClone(json) };
  const faults: string[] = [];
  for (let left = random() < 0.75 ? 1 : 1 + Math.floor(random() * 3); left > 0; left--)
    faults.push(mutate(box, random));
  return { json: box.json as T, faults: `seed ${seed}: ${faults.join('; ')}` };
}

function mutate(box: Holder, random: () => number): string {
  const places = placesIn(box);
  const pick = <V>(values: readonly V[]): V => values[Math.floor(random() * values.length)] as V;
  const place: Place | undefined = pick(places);
  if (place === undefined) return 'nothing is left';
  const { holder, key, path } = place;
  const value = read(place);
  switch (Math.floor(random() * 7)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      return `${path} deleted`;
    case 1: {
      const wrong = pick(WRONG);
      write(place, structuredClone(wrong));
      return `${path} = ${JSON.stringify(wrong)}`;
    }
    case 2: {
      const other = pick(placesIn(holder));
      const near = { holder: other.holder, key: other.key, path: `${path} ~ ${other.path}` };
      if (isWithin(read(near), value) || isWithin(value, read(near))) return `${path} left`;
      const theirs = read(near);
      write(near, value);
      write(place, theirs);
      return `${path} swapped with ${other.path}`;
    }
    case 3:
      if (Array.isArray(holder)) holder.splice(Number(key), 0, structuredClone(value));
      else holder[`${key}2`] = structuredClone(value);
      return `${path} duplicated`;
    case 4: {
      // The hardest fault to detect: a value from elsewhere in the same document, so its shape is valid.
      const other = pick(places.filter((one) => typeof read(one) === typeof value));
      write(place, structuredClone(read(other)));
      return `${path} = that of ${other.path}`;
    }
    case 5: {
      const text = typeof value === 'string' ? changedText(value, random) : pick(WRONG);
      write(place, structuredClone(text));
      return `${path} = ${JSON.stringify(text)}`;
    }
    default: {
      if (!Array.isArray(value)) {
        const number = typeof value === 'number' ? pick([value + 1, value - 1, -value, value * 1_000]) : pick(WRONG);
        write(place, structuredClone(number));
        return `${path} = ${JSON.stringify(number)}`;
      }
      value.length = Math.floor(random() * value.length);
      return `${path} cut to ${value.length}`;
    }
  }
}

function changedText(text: string, random: () => number): string {
  const at = Math.floor(random() * (text.length + 1));
  return random() < 0.5 ? `${text.slice(0, at)}z${text.slice(at)}` : text.slice(0, at);
}

function placesIn(root: unknown): Place[] {
  const places: Place[] = [];
  const ahead: [unknown, string][] = [[root, '']];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const [holder, above] = next;
    if (typeof holder !== 'object' || holder === null) continue;
    for (const key of Object.keys(holder)) {
      const path = `${above}/${key}`;
      places.push({ holder: holder as Holder, key, path });
      ahead.push([(holder as Record<string, unknown>)[key], path]);
    }
  }
  return places;
}

function read({ holder, key }: Place): unknown {
  return (holder as Record<string, unknown>)[key];
}

function write({ holder, key }: Place, value: unknown): void {
  (holder as Record<string, unknown>)[key] = value;
}

function isWithin(value: unknown, whole: unknown): boolean {
  return value === whole
    ? typeof value === 'object'
    : placesIn(whole).some((place) => typeof value === 'object' && value !== null && read(place) === value);
}
