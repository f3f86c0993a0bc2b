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

  constructor(
    cause: unknown,
    { inDoubt = false, isLost = false, isFull = false, isCrowded = false }: UnavailableOptions = {},
  ) {
    const unchanged = isLost
      ? 'Nothing was changed. The gateway has to be started again; its log says why.'
      : 'Nothing was changed; try again shortly.';
    const what = inDoubt ? 'It is not known whether the change was made: look before you try again.' : unchanged;
    super('store_unavailable', `${reasonOf({ isFull, isCrowded })} ${what}`, { cause });
    this.inDoubt = inDoubt;
  }
}

interface UnavailableOptions {
  readonly inDoubt?: boolean;
  /** It will not answer until the gateway is started again. */
  readonly isLost?: boolean;
  /** There is no room on its disk. */
  readonly isFull?: boolean;
  /** It has as many connections as it may have. */
  readonly isCrowded?: boolean;
}

function reasonOf({ isFull, isCrowded }: UnavailableOptions): string {
  if (isFull) return 'The disk of the database is full.';
  return isCrowded ? 'The database accepts no more connections.' : 'The database does not answer.';
}
