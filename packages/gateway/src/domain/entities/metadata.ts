import { toJson } from '../../ports/store/json.ts';
import type { Json } from '../../ports/store/tables.ts';
import { tooLarge } from './invalid.ts';

/** What callers keep with a thing of ours: theirs to understand. */
export type Metadata = Readonly<Record<string, unknown>>;

/** It is read with every list of the things it is on. */
const LONGEST = 16_000;

export function toMetadata(metadata: Metadata | undefined): Json {
  const text = toJson(metadata ?? {});
  if (text.length > LONGEST)
    throw tooLarge('metadata', { limit: LONGEST, came: text.length, unit: 'characters of JSON' });
  return text;
}
