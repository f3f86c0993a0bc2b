import { toJson } from '../../ports/store/schema/json.ts';
import type { Json } from '../../ports/store/schema/tables.ts';

/** Stands where a text was erased. */
export const ERASED = '[erased]';

export const ERASED_JSON: Json = toJson(ERASED);

/** Stands where the input of a call was erased. Providers accept only objects there. */
export const ERASED_INPUT: { readonly erased: true } = { erased: true };
