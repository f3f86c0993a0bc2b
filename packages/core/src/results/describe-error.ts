/** A safe description of anything that was thrown. */
export interface ErrorDescription {
  /** The error's class, or the type of the thrown value if it is not an error. */
  readonly name: string;
  readonly message: string;
}

// A message that fills the model's context is of no use.
const LONGEST_MESSAGE = 2_000;

/** Never throws, whatever was thrown: a string, nothing at all, a frozen error, a proxy that throws on access. */
export function describeError(thrown: unknown): ErrorDescription {
  try {
    return describe(thrown);
  } catch {
    return { name: 'Error', message: 'an error that cannot be read' };
  }
}

/** `TypeError: x is not a function`, or only the message if the class adds nothing. */
export function errorText(thrown: unknown): string {
  const { name, message } = describeError(thrown);
  return message === '' ? name : `${name}: ${message}`;
}

function describe(thrown: unknown): ErrorDescription {
  if (typeof thrown === 'string') return { name: 'string', message: cut(thrown) };
  if (typeof thrown !== 'object' || thrown === null) return { name: typeof thrown, message: cut(String(thrown)) };
  const { name, message } = thrown as { name?: unknown; message?: unknown };
  const fallback: unknown = thrown.constructor?.name;
  return {
    name: cut(firstText(name, fallback, 'Error')),
    message: cut(typeof message === 'string' ? message : typeof message === 'undefined' ? '' : String(message)),
  };
}

function firstText(...candidates: readonly unknown[]): string {
  return candidates.find((one): one is string => typeof one === 'string' && one !== '') ?? 'Error';
}

function cut(text: string): string {
  return text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE)}… (${text.length} characters)`;
}
