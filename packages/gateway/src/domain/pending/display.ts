/** How a call wants to be shown. */
export interface Display {
  /** The name of the component that shows it. */
  readonly customUI?: string;
  readonly [field: string]: unknown;
}

/** A tool in TypeScript may say anything. Whoever draws cards gets an object, and a name that is a name. */
export function toDisplay(given: unknown): Display {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { value: given };
  const { customUI, ...rest } = given as Record<string, unknown>;
  return typeof customUI === 'string' ? { ...rest, customUI } : rest;
}
