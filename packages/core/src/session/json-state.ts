import { SessionError } from '../errors.ts';

/** Refuses values that JSON would lose, so that restored state equals stored state. Undefined fields are harmless. */
export function assertJson(value: unknown, slice: string, path: string = ''): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      assertJson(item, slice, `${path}[${index}]`);
    });
    return;
  }
  if (typeof value !== 'object') {
    const what = typeof value === 'number' ? String(value) : `a ${typeof value}`;
    throw new SessionError(`Slice "${slice}" cannot be stored: it holds ${what}${path === '' ? '' : ` at ${path}`}.`);
  }
  for (const [key, field] of Object.entries(value)) if (field !== undefined) assertJson(field, slice, `${path}.${key}`);
}
