import { LastcallError } from '@lastcall/core';

/**
 * A redirect that could not be followed, for the reason in `cause`. The server that redirected has received the
 * request.
 */
export class RedirectFailed extends LastcallError {
  override readonly name: string = 'RedirectFailed';

  constructor(cause: Error & { readonly code: string }) {
    super(cause.code, cause.message, { cause });
  }
}
