/** How the tool wants its call to be shown. */
export interface Display {
  /** The name of the component that shows it. */
  readonly customUI?: string;
  readonly [field: string]: unknown;
}

/** A tool in TypeScript may return anything. Code that draws cards gets an object with a valid component name. */
export function toDisplay(given: unknown): Display {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { value: given };
  const { customUI, ...rest } = given as Record<string, unknown>;
  return typeof customUI === 'string' ? { ...rest, customUI } : rest;
}
