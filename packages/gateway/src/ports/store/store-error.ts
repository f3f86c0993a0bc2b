import { LastcallError } from '@lastcall/core';

/** The store was used in a way that cannot work. This is a bug in the program. */
export class StoreMisuse extends LastcallError {
  override readonly name: string = 'StoreMisuse';

  constructor(message: string) {
    super('store_misuse', message);
  }
}

/** The store cannot be used with this setup. The message says what to do. */
export class StoreRefused extends LastcallError {
  override readonly name: string = 'StoreRefused';

  constructor(message: string, options?: { cause?: unknown }) {
    super('store_refused', message, options);
  }
}

/** The database does not answer. Retry later. */
export class StoreUnavailable extends LastcallError {
  override readonly name: string = 'StoreUnavailable';
  /** The commit was sent and not confirmed: the change may or may not have been made. */
  readonly inDoubt: boolean;
  /** The server runs and refuses to open connections. It says why in the cause, which operators have to read. */
  readonly isRefused: boolean;

  constructor(
    cause: unknown,
    { inDoubt = false, isLost = false, isFull = false, isRefused = false }: UnavailableOptions = {},
  ) {
    const unchanged = isLost
      ? 'Nothing was changed. The gateway has to be started again; its log says why.'
      : 'Nothing was changed; try again shortly.';
    const what = inDoubt ? 'It is not known whether the change was made: look before you try again.' : unchanged;
    super('store_unavailable', `${reasonOf({ isFull, isRefused })} ${what}`, { cause });
    this.inDoubt = inDoubt;
    this.isRefused = isRefused;
  }
}

interface UnavailableOptions {
  readonly inDoubt?: boolean;
  /** It will not answer until the gateway is started again. */
  readonly isLost?: boolean;
  /** There is no room on its disk. */
  readonly isFull?: boolean;
  /** It opens no connection: there are as many as there may be, the password was changed, or an administrator closed the database. */
  readonly isRefused?: boolean;
}

function reasonOf({ isFull, isRefused }: UnavailableOptions): string {
  if (isFull) return 'The disk of the database is full.';
  return isRefused ? 'The database accepts no more connections.' : 'The database does not answer.';
}
