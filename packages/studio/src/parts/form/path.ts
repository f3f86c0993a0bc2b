/** A problem and its path: `guests[0].name`, empty for the whole. The gateway writes paths the same way. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

export function pathTo(base: string, key: string | number): string {
  if (typeof key === 'number') return `${base}[${key}]`;
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${base}[${JSON.stringify(key)}]`;
  return base === '' ? key : `${base}.${key}`;
}

/** True for the path itself and every path inside it. */
export function isWithin(path: string, base: string): boolean {
  return base === '' || path === base || path.startsWith(`${base}.`) || path.startsWith(`${base}[`);
}

/** The gateway names a part of its request, e.g. `input.city`; the form calls it `city`. */
export function withoutPrefix(problems: readonly Problem[], prefix: string): readonly Problem[] {
  return problems.map(({ path, message }) =>
    isWithin(path, prefix) ? { path: path.slice(prefix.length).replace(/^\./, ''), message } : { path: '', message },
  );
}
