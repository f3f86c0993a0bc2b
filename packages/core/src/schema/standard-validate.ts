import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describeExtraKey, type ExtraKey, type FindExtraKeys } from './extra-keys.ts';
import { formatPath } from './format-path.ts';
import type { Problem, SchemaResult } from './schema-result.ts';
import { checkFailed, refused, settleWith } from './settle.ts';
import { stripKeys } from './strip-keys.ts';

/**
 * The library's own problems and every extra key. If there are extra keys, the library sees the value without them, so
 * that a strict library does not report them again in its own words.
 */
export function createStandardValidate(
  standard: StandardSchemaV1.Props,
  findExtraKeys?: FindExtraKeys,
): (value: unknown) => SchemaResult | Promise<SchemaResult> {
  return (value) => {
    try {
      const extra = findExtraKeys?.(value) ?? [];
      if (extra.length === 0) return settleWith(() => standard.validate(value), settle);
      return validateRest(standard, value, extra);
    } catch (error) {
      return checkFailed(error);
    }
  };
}

function validateRest(
  standard: StandardSchemaV1.Props,
  value: unknown,
  extra: readonly ExtraKey[],
): SchemaResult | Promise<SchemaResult> {
  const problems: readonly Problem[] = extra.map((one) => ({
    path: formatPath(one.path),
    message: describeExtraKey(one).message,
  }));
  const rest = stripKeys(
    value,
    extra.map(({ path }) => path),
  );
  return settleWith(
    () => standard.validate(rest),
    (result) => {
      const settled = settle(result);
      return { ok: false, problems: settled.ok ? problems : [...problems, ...settled.problems] };
    },
    (error) => checkFailed(error, problems),
  );
}

function settle(result: unknown): SchemaResult {
  const { issues, value } = result as { issues?: unknown; value?: unknown };
  return issues ? refused(issues) : { ok: true, value };
}
