/** Counts the items that are read from now on, each once. The list must be the same object that the code under test reads. */
export function countReads(list: readonly object[]): { readonly count: number } {
  const seen = new Set<number>();
  for (const [index, item] of list.entries()) {
    const see = <K extends 'get' | 'has' | 'ownKeys' | 'getOwnPropertyDescriptor'>(trap: K) =>
      ((...args: Parameters<(typeof Reflect)[K]>) => {
        seen.add(index);
        return (Reflect[trap] as (...given: unknown[]) => unknown)(...args);
      }) as never;
    (list as object[])[index] = new Proxy(item, {
      get: see('get'),
      has: see('has'),
      ownKeys: see('ownKeys'),
      getOwnPropertyDescriptor: see('getOwnPropertyDescriptor'),
    });
  }
  return {
    get count() {
      return seen.size;
    },
  };
}
