import { ApiError } from '../api-error.ts';

/** A value that was given is wrong. `message` reads on from the path: `must be …, not …`. */
export function invalid(path: string, message: string): ApiError {
  return new ApiError(422, 'invalid_request', `${path} ${message}`, { details: { path } });
}

/** A value that was given is longer than is taken: nothing is cut silently. */
export function tooLarge(path: string, { limit, came, unit }: { limit: number; came: number; unit: string }): ApiError {
  return new ApiError(413, 'too_large', `${path} must be ${limit} ${unit} or less, not ${came}.`, {
    details: { path, limit },
  });
}
