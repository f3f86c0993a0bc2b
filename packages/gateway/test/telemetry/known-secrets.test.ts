import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { removeSecrets } from '../../src/runtime/toolset/remove-secrets.ts';
import { KnownSecrets } from '../../src/telemetry/known-secrets.ts';
import { createRedact, secretValues } from '../../src/telemetry/redact.ts';
import { createSecrets } from '../../src/telemetry/secrets.ts';
import { inWorker } from '../support/in-worker.ts';
import { formsOf } from '../support/secret-forms.ts';

const secret = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', minLength: 6, maxLength: 40 }),
  fc.string({ unit: 'grapheme', minLength: 6, maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '/', '+', '%', '&', '<', "'", ' ', 'a', 'ß', '\u{1f600}', '\n'),
    minLength: 6,
    maxLength: 20,
  }),
);

describe('known secrets', () => {
  test('[X7] are removed in every form and at every place of a text', () => {
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
        fc.pre(value.isWellFormed());
        const known = new KnownSecrets([value]);
        for (const [form, text] of formsOf(value, { before, after })) {
          const safe = known.removeFrom(text);
          expect(safe, form).toContain('[redacted]');
          expect(known.isIn(safe), form).toBe(false);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('[X7] are removed from every text, name and number of a value, and from errors', () => {
    const known = new KnownSecrets(['hunter2hunter2', '8472947261']);
    const value = {
      a: ['x hunter2hunter2 y', { hunter2hunter2: 1 }],
      n: 8472947261,
      m: 12,
      error: new Error('hunter2hunter2'),
    };
    expect(known.removeFromAll(value)).toEqual({
      a: ['x [redacted] y', { '[redacted]': 1 }],
      n: '[redacted]',
      m: 12,
      error: expect.objectContaining({ message: '[redacted]' }),
    });
    const clean = { a: [1, 'b'] };
    expect(known.removeFromAll(clean)).toBe(clean);
  });

  test('[X7] are removed from results in a map, a set or an object of a class, which are stored too', async () => {
    class Account {
      readonly key = 'hunter2hunter2';
    }
    const returned = {
      map: new Map([['a', 'hunter2hunter2']]),
      set: new Set(['hunter2hunter2']),
      list: [new Account()],
      url: new URL('https://far.example/?key=hunter2hunter2'),
    };
    const { outcome } = removeSecrets(new KnownSecrets(['hunter2hunter2']));
    const heard = await outcome?.({ status: 'ok', value: returned, text: '' } as never, {} as never);
    expect(heard).toMatchObject({
      value: {
        map: { a: '[redacted]' },
        set: ['[redacted]'],
        list: [{ key: '[redacted]' }],
        url: 'https://far.example/?key=[redacted]',
      },
    });
  });

  test('[X7] a longer secret that begins like another is removed completely', () => {
    const known = new KnownSecrets(['secret-1', 'secret-12345']);
    expect(known.removeFrom('secret-12345 secret-1')).toBe('[redacted] [redacted]');
  });

  test.each(['\\', '%25', '\\u', 'p', '\\"'])(
    'secrets are removed from a text that repeats %s a million times, because the patterns have bounds',
    async (unit) => {
      const secrets = ['\\"\\"\\"\\"secret', 'plain-secret', '%25%25%25'];
      type Known = typeof import('../../src/telemetry/known-secrets.ts');
      const module = new URL('../../src/telemetry/known-secrets.ts', import.meta.url);
      const remove = ({ KnownSecrets }: Known, given: { readonly secrets: string[]; readonly unit: string }) =>
        new KnownSecrets(given.secrets).removeFrom(given.unit.repeat(1_000_000)).length;
      expect(await inWorker(module, remove, { secrets, unit })).toBeGreaterThan(0);
    },
  );
});

describe('the secrets of a gateway', () => {
  test('[X7] only names on the list are read, at the time of the call', () => {
    const env: Record<string, string | undefined> = {
      LISTED: 'first-value',
      OTHER: 'other-value',
      SHORT: 'abc',
      EMPTY: '',
    };
    const known = new KnownSecrets();
    const secrets = createSecrets({ env, names: ['LISTED', 'MISSING', 'SHORT', 'EMPTY'], known });
    expect(secrets.read('LISTED')).toBe('first-value');
    env.LISTED = 'second-value';
    expect(secrets.read('LISTED')).toBe('second-value');
    // A secret that was sent once may be echoed later.
    expect(known.removeFrom('first-value second-value')).toBe('[redacted] [redacted]');
    expect(() => secrets.read('OTHER')).toThrow('is not on the list');
    expect(() => secrets.read('PATH')).toThrow('is not on the list');
    expect(() => secrets.read('MISSING')).toThrow('is not set');
    expect(() => secrets.read('EMPTY')).toThrow('is not set');
    expect(() => secrets.read('SHORT')).toThrow('fewer than 4 characters');
    expect(() => secrets.read('constructor')).toThrow('is not on the list');
  });

  test('[X7] logs lose the listed values in every form, and guessed ones that are long enough', () => {
    const env = { LISTED: 'pin-4711', SOME_TOKEN: 'token-of-somebody', A_KEY: 'word', HOME: '/home/somebody' };
    const values = secretValues(env, { secretKey: undefined, secrets: ['LISTED'] });
    expect(values.toSorted()).toEqual(['pin-4711', 'token-of-somebody']);
    const redact = createRedact(new KnownSecrets(values));
    const text = `pin-4711 ${Buffer.from('x:pin-4711').toString('base64')} token-of-somebody word`;
    expect(redact(text)).toMatch(/^\[redacted\] .{0,3}\[redacted\].{0,3} \[redacted\] word$/);
  });

  test('[G63] tokens are recognised by their form, also at the end of a word, and what stands around them stays', () => {
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2ln-bmF0_dXJl';
    const text = `a.b-${token}, x-${token} "${token}" (eyJhbGci.) lc_sk_0123456789 Bearer ${token} https://ada:pw@host/eyJ`;
    expect(createRedact()(text)).toBe(
      'a.b-[redacted], x-[redacted] "[redacted]" (eyJhbGci.) [redacted] [redacted] https://ada:[redacted]@host/eyJ',
    );
  });

  test.each(['eyJ-', 'eyJ.', '-eyJa.-', 'a-eyJ.a', 'Bearer ', '://a:', 'lc_sk_', '-lc_sk_-'])(
    '[X7] a text of a million characters that repeats "%s" does not hold the process, because each pattern reads it once',
    async (unit) => {
      type Redacting = typeof import('../../src/telemetry/redact.ts');
      const module = new URL('../../src/telemetry/redact.ts', import.meta.url);
      const redact = ({ createRedact }: Redacting, text: string) => createRedact()(text).length;
      expect(await inWorker(module, redact, unit.repeat(1_000_000 / unit.length))).toBeGreaterThan(0);
    },
  );
});
