import type { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { type ConfigProblem, check } from './config-problem.ts';
import { type Settings, type SettingsInput, settingSchemas } from './settings.ts';

const VARIABLES: readonly (readonly [variable: string, setting: keyof Settings])[] = [
  ['PORT', 'port'],
  ['HOST', 'host'],
  ['DATABASE_URL', 'databaseUrl'],
  ['DATABASE_DIRECT_URL', 'databaseDirectUrl'],
  ['LASTCALL_HOME', 'home'],
  ['LASTCALL_SECRET_KEY', 'secretKey'],
  ['LASTCALL_ENCRYPTION_KEY', 'encryptionKey'],
  ['LASTCALL_PUBLIC_URL', 'publicUrl'],
  ['LASTCALL_TRUSTED_PROXIES', 'trustedProxies'],
  ['LASTCALL_MODEL', 'model'],
  ['LASTCALL_MODEL_URL', 'modelUrl'],
  ['LASTCALL_LEASE_MS', 'leaseMs'],
  ['LASTCALL_LOG_LEVEL', 'logLevel'],
];

const NUMBERS: ReadonlySet<keyof Settings> = new Set(['port', 'leaseMs']);
const LISTS: ReadonlySet<keyof Settings> = new Set(['trustedProxies']);

/**
 * Reads the settings that the environment sets. An empty variable counts as unset. Throws a ConfigError that names the
 * variable. `file` has the settings of the configuration file: what a variable needs can be there.
 */
export function readEnv(env: Readonly<Record<string, string | undefined>>, file: SettingsInput = {}): SettingsInput {
  const settings: Record<string, unknown> = {};
  const problems: ConfigProblem[] = [];
  for (const [variable, setting] of VARIABLES) {
    const text = env[variable]?.trim();
    if (text === undefined || text === '') continue;
    const schema: z.ZodType = settingSchemas[setting];
    const result = check(schema, parsedValue(setting, text), [variable]);
    if (result.ok) settings[setting] = result.value;
    else problems.push(...result.problems);
  }
  // A variable that is set, but not valid, is not missing too.
  const missing = [...modelUrlProblems(settings, file), ...databaseUrlProblems(settings, file)];
  problems.push(...missing.filter(({ path }) => !env[path]));
  if (problems.length > 0) throw new ConfigError('environment', problems);
  return settings as SettingsInput;
}

function parsedValue(setting: keyof Settings, text: string): unknown {
  if (LISTS.has(setting)) return text.split(',').map((one) => one.trim());
  return NUMBERS.has(setting) ? toNumber(text) : text;
}

// Only digits are accepted: Number() would also take "0x10", "1e3" and " 80 ".
function toNumber(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function modelUrlProblems({ model, modelUrl }: SettingsInput, file: SettingsInput): readonly ConfigProblem[] {
  if (model?.startsWith('openai-compatible/') !== true || (modelUrl ?? file.modelUrl) !== undefined) return [];
  return [
    { path: 'LASTCALL_MODEL_URL', message: 'is missing: an openai-compatible model needs the URL of its server.' },
  ];
}

/** Without this check, a gateway whose DATABASE_URL is misspelt would begin anew on SQLite. */
function databaseUrlProblems(settings: SettingsInput, file: SettingsInput): readonly ConfigProblem[] {
  const { databaseUrl, databaseDirectUrl } = { ...file, ...settings };
  if (databaseDirectUrl === undefined || databaseUrl !== undefined) return [];
  const set =
    settings.databaseDirectUrl === undefined ? 'databaseDirectUrl of the configuration' : 'DATABASE_DIRECT_URL';
  return [{ path: 'DATABASE_URL', message: `is missing, and ${set} is set. Set both, or neither for SQLite.` }];
}
