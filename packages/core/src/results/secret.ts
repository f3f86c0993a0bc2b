const REDACTED = '[redacted]';

/** A value that every text, event, log and transcript shows as `[redacted]`. Only `reveal()` returns it. */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  get [Symbol.toStringTag](): string {
    return 'Secret';
  }
}

// Node's console, and the loggers built on it, show an object with this method.
Object.defineProperty(Secret.prototype, Symbol.for('nodejs.util.inspect.custom'), { value: () => REDACTED });

export function secret<T>(value: T): Secret<T> {
  return new Secret(value);
}
