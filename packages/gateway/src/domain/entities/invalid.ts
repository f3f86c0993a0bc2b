import { ApiError } from '../api-error.ts';

/** The error for a wrong value. `message` continues the path: `must be …, not …`. */
export function invalid(path: string, message: string): ApiError {
  return new ApiError('invalid_request', `${path} ${message}`, { details: { path } });
}

/** The error for a value that is too long. Nothing is cut silently. */
export function tooLarge(path: string, { limit, came, unit }: { limit: number; came: number; unit: string }): ApiError {
  return new ApiError('too_large', `${path} must be ${limit} ${unit} or less, not ${came}.`, {
    details: { path, limit },
  });
}
