import { ApiError } from '../domain/api-error.ts';

/** Sets what the file says. If it is refused, the error names it: a file may have many agents and plans. */
export async function inFile(what: string, set: () => Promise<unknown>): Promise<void> {
  try {
    await set();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.code, `The ${what} of the configuration cannot be set: ${error.message}`, {
      cause: error,
    });
  }
}
