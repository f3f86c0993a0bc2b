import { LastcallError } from '@lastcall/core';

/** A redirect that could not be followed, for the same reason as `cause`. Whoever redirected has got the request. */
export class RedirectFailed extends LastcallError {
  override readonly name: string = 'RedirectFailed';

  constructor(cause: Error & { readonly code: string }) {
    super(cause.code, cause.message, { cause });
  }
}
