import { toJson } from '../../ports/store/schema/json.ts';
import type { Json } from '../../ports/store/schema/tables.ts';
import { tooLarge } from './invalid.ts';

/** Data that callers store with our objects. Only they know what it means. */
export type Metadata = Readonly<Record<string, unknown>>;

/** The limit is small, because metadata is read with every list. */
const MAX_CHARACTERS = 16_000;

export function toMetadata(metadata: Metadata | undefined): Json {
  const text = toJson(metadata ?? {});
  if (text.length > MAX_CHARACTERS)
    throw tooLarge('metadata', { limit: MAX_CHARACTERS, came: text.length, unit: 'characters of JSON' });
  return text;
}
