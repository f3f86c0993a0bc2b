import { ApiError } from './api-error.ts';
import { invalid } from './entities/invalid.ts';

/** Checks an id that the caller chose. */
export function ownId(id: string): string {
  if (!OWN_ID.test(id)) throw invalid('id', 'must be 1–64 characters of A–Z, a–z, 0–9, "_" and "-".');
  return id;
}

export const OWN_ID: RegExp = /^[A-Za-z0-9_-]{1,64}$/;

export function idTaken(id: string): ApiError {
  return new ApiError('id_taken', `The id "${id}" is already taken. Choose another.`, { details: { path: 'id' } });
}
