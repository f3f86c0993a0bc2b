/** A problem with a stored value, and where in it: `.outcome.status`, `[3].text`; an empty path is the value itself. */
export interface Flaw {
  readonly at: string;
  readonly problem: string;
}

/** Finds a problem with a stored value. Paths are built only if there is a problem: most values have none. */
export type Shape = (value: unknown) => Flaw | undefined;

type Shapes = Readonly<Record<string, Shape>>;

export const anything: Shape = () => undefined;
export const text: Shape = must('be a text', (value) => typeof value === 'string');
export const name: Shape = must('be a text that is not empty', (value) => typeof value === 'string' && value !== '');
export const flag: Shape = must('be true or false', (value) => typeof value === 'boolean');
export const number: Shape = must('be a number', Number.isFinite);
export const count: Shape = must('be a number of 0 or more', (value) => Number.isFinite(value) && Number(value) >= 0);
export const fields: Shape = must('be an object', isFields);

export function oneOf(...values: readonly unknown[]): Shape {
  const list = values.map((value) => JSON.stringify(value)).join(', ');
  return must(`be ${values.length > 1 ? 'one of ' : ''}${list}`, (value) => values.includes(value));
}

export function listOf(shape: Shape): Shape {
  return (value) => {
    if (!Array.isArray(value)) return { at: '', problem: 'must be an array.' };
    for (let index = 0; index < value.length; index++) {
      const flaw = shape(value[index]);
      if (flaw !== undefined) return { at: `[${index}]${flaw.at}`, problem: flaw.problem };
    }
    return undefined;
  };
}

/** Unknown fields are ignored: a later version may have added them. */
export function object(needed: Shapes, optional: Shapes = {}): Shape {
  const all: readonly [string, Shape, boolean][] = [
    ...Object.entries(needed).map(([key, shape]): [string, Shape, boolean] => [key, shape, true]),
    ...Object.entries(optional).map(([key, shape]): [string, Shape, boolean] => [key, shape, false]),
  ];
  return (value) => {
    if (!isFields(value)) return { at: '', problem: 'must be an object.' };
    for (const [key, shape, isNeeded] of all) {
      const field = Object.hasOwn(value, key) ? value[key] : undefined;
      if (field === undefined && !isNeeded) continue;
      const flaw = shape(field);
      if (flaw !== undefined) return { at: `.${key}${flaw.at}`, problem: flaw.problem };
    }
    return undefined;
  };
}

/** One of several objects, distinguished by a field. `other` is the shape of objects that match none of them. */
export function tagged(tag: string, shapes: Shapes, other?: Shape): Shape {
  const unknown = other ?? object({ [tag]: oneOf(...Object.keys(shapes)) });
  return (value) => {
    if (!isFields(value)) return { at: '', problem: 'must be an object.' };
    const kind = value[tag];
    const shape = typeof kind === 'string' && Object.hasOwn(shapes, kind) ? shapes[kind] : undefined;
    return (shape ?? unknown)(value);
  };
}

export function must(problem: string, isRight: (value: unknown) => boolean): Shape {
  const flaw: Flaw = { at: '', problem: `must ${problem}.` };
  return (value) => (isRight(value) ? undefined : flaw);
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
