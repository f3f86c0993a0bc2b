import { z } from 'zod';
import { parseAddressRange } from './address-range.ts';

/** Where and how a gateway runs. The environment overrides the configuration file, which overrides the defaults. */
export interface Settings {
  /** Port 0 means any free port. */
  readonly port: number;
  readonly host: string;
  /** The directory of the embedded store's file. */
  readonly home: string;
  /** A PostgreSQL URL. Without it the embedded store is used. */
  readonly databaseUrl: string | undefined;
  /** The server's own address, if `databaseUrl` leads to a pooler in transaction mode. LISTEN and migrations go there. */
  readonly databaseDirectUrl: string | undefined;
  /** The first secret key. Without it the first start creates one and prints it once. */
  readonly secretKey: string | undefined;
  /** Encrypts OAuth tokens and other secrets in the database. Without it, the encryption key is stored in the database too. */
  readonly encryptionKey: string | undefined;
  /** The URL under which browsers reach the gateway, if it differs from its host and port. */
  readonly publicUrl: string | undefined;
  /** Addresses and ranges of the proxies that are trusted to report the client's address. */
  readonly trustedProxies: readonly string[];
  /** The model of agents that name none: `provider/model`, the name of a configured model, or `rehearsal`. */
  readonly model: string | undefined;
  /** The base URL of `openai-compatible/<model>`. */
  readonly modelUrl: string | undefined;
  /** How long a worker holds its threads without renewing their leases. */
  readonly leaseMs: number;
  readonly logLevel: LogLevel;
}

/** The settings that a user has set. */
export type SettingsInput = { readonly [K in keyof Settings]?: Settings[K] | undefined };

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export const DEFAULT_SETTINGS: Settings = {
  port: 4100,
  // Only loopback by default: listening to the outside must be a decision.
  host: '127.0.0.1',
  home: '.lastcall',
  databaseUrl: undefined,
  databaseDirectUrl: undefined,
  secretKey: undefined,
  encryptionKey: undefined,
  publicUrl: undefined,
  trustedProxies: [],
  model: undefined,
  modelUrl: undefined,
  // A killed worker's threads are taken over within 15 s: the lease, and a sweep.
  leaseMs: 10_000,
  logLevel: 'info',
};

const PORT = 'must be a whole number from 0 to 65535, e.g. 4100.';
const PROXY = 'must be the address of a proxy or a range of addresses, e.g. 10.0.0.5, 10.0.0.0/8 or fd00::/8.';
const LEASE = 'must be a whole number of milliseconds from 100 to 600000, e.g. 10000.';

/**
 * The messages never repeat a value, because a URL and a key are secrets. Nor do they show a password: what looks like one is removed from
 * what a start prints.
 */
export const settingSchemas: { readonly [K in keyof Settings]: z.ZodType<Exclude<Settings[K], undefined>> } = {
  port: z.int({ error: PORT }).min(0, { error: PORT }).max(65_535, { error: PORT }),
  host: z
    .string()
    .regex(/^[\w.:%[\]-]{1,255}$/, { error: 'must be a host name or an IP address, e.g. 127.0.0.1 or 0.0.0.0.' }),
  home: z.string().regex(/^[^\0]+$/, { error: 'must be a directory, e.g. .lastcall.' }),
  databaseUrl: z.string().refine(isPostgresUrl, {
    error: 'must be a PostgreSQL URL, e.g. postgres://database:5432/lastcall. For the embedded store leave it out.',
  }),
  databaseDirectUrl: z.string().refine(isPostgresUrl, {
    error: 'must be a PostgreSQL URL, e.g. postgres://database:5432/lastcall.',
  }),
  secretKey: z.string().regex(/^[\x21-\x7e]{16,512}$/, {
    error: 'must be 16–512 characters of ASCII without spaces, e.g. what `openssl rand -hex 32` gives.',
  }),
  encryptionKey: z.string().regex(/^[\x21-\x7e]{32,512}$/, {
    error: 'must be 32–512 characters of ASCII without spaces, e.g. what `openssl rand -hex 32` gives.',
  }),
  publicUrl: z.string().refine(isHttpOrigin, {
    error: 'must be an http or https URL without a path, e.g. https://agents.example.com.',
  }),
  trustedProxies: z
    .array(z.string().refine((text) => parseAddressRange(text) !== undefined, { error: PROXY }))
    .max(1_000),
  model: z.string().regex(/^\S{1,200}$/, {
    error:
      'must be a model without spaces, e.g. anthropic/<model>, openai/<model>, openai-compatible/<model> or rehearsal.',
  }),
  modelUrl: z.string().refine(isHttpUrl, { error: 'must be an http or https URL, e.g. http://127.0.0.1:11434/v1.' }),
  leaseMs: z.int({ error: LEASE }).min(100, { error: LEASE }).max(600_000, { error: LEASE }),
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    error: 'must be trace, debug, info, warn, error, fatal or silent.',
  }),
};

/** Takes each setting from the first source that sets it. */
export function resolveSettings(...sources: readonly SettingsInput[]): Settings {
  const keys = Object.keys(DEFAULT_SETTINGS) as (keyof Settings)[];
  const pick = (key: keyof Settings): unknown =>
    sources.find((one) => one[key] !== undefined)?.[key] ?? DEFAULT_SETTINGS[key];
  return Object.fromEntries(keys.map((key) => [key, pick(key)])) as unknown as Settings;
}

function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:$/.test(protocolOf(text));
}

function isHttpUrl(text: string): boolean {
  return /^https?:$/.test(protocolOf(text));
}

/** Links and redirects are to paths of the gateway: another path before them would be lost. */
function isHttpOrigin(text: string): boolean {
  if (!isHttpUrl(text)) return false;
  const { pathname, search, hash } = new URL(text);
  return pathname === '/' && search === '' && hash === '';
}

function protocolOf(text: string): string {
  return URL.canParse(text) ? new URL(text).protocol : '';
}
