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

  /** @param options - `isLost`: it will not answer until the gateway is started again. `isFull`: there is no room on its disk. */
  constructor(
    cause: unknown,
    { inDoubt = false, isLost = false, isFull = false }: { inDoubt?: boolean; isLost?: boolean; isFull?: boolean } = {},
  ) {
    const unchanged = isLost
      ? 'Nothing was changed. The gateway has to be started again; its log says why.'
      : 'Nothing was changed; try again shortly.';
    const what = inDoubt ? 'It is not known whether the change was made: look before you try again.' : unchanged;
    const why = isFull ? 'The disk of the database is full.' : 'The database does not answer.';
    super('store_unavailable', `${why} ${what}`, { cause });
    this.inDoubt = inDoubt;
  }
}
