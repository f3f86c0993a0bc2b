import { type AnyTool, createSession, dispatchCall, type Settlement, type ToolSet } from '@lastcall/core';
import { dataTool } from '@lastcall/core/internal';
import { dataSchema } from '../../config/data-schema.ts';
import type { RegisteredTool } from '../../config/registered-tool.ts';
import { isInteractive } from '../../config/visibility.ts';
import { newId } from '../../domain/new-id.ts';
import type { Services } from '../../ports/services.ts';
import { createRunClock } from '../run/run-clock.ts';
import { createOutputLimit } from '../tools/output-limit.ts';
import type { Registry } from './registry.ts';
import { removeSecrets } from './remove-secrets.ts';
import { toTool } from './run-tools.ts';

/** A test call of a tool. */
export interface ToolTrial {
  readonly tool: RegisteredTool;
  readonly input: unknown;
  /** Runs a tool that needs approval. The person who tests it thereby approves the call. */
  readonly approve: boolean;
  readonly signal: AbortSignal;
}

/** The time limit of a test, even if the tool's own timeout is longer, because a person waits for the answer. */
const LONGEST_TRIAL_MS = 120_000;

/**
 * Calls a tool once, through the same pipeline as an agent's calls: schema, approval, limits, secrets, size limit.
 * Nothing is stored and no person is asked: a call that waits for an answer ends as pending.
 */
export async function tryTool(services: Services, registry: Registry, trial: ToolTrial): Promise<Settlement> {
  const { name } = trial.tool;
  const known = registry.outgoing?.secrets.known;
  const { shared } = registry;
  const clock = createRunClock();
  const session = createSession({ logger: services.logger, ...(shared === undefined ? {} : { shared }) });
  try {
    return await dispatchCall({
      tools: { [name]: runnableAlone(trial.tool, registry) },
      call: { toolName: name, input: trial.input },
      session,
      ...(trial.approve ? { answer: { approve: true } } : {}),
      pendingAnswered: true,
      middleware: [
        createOutputLimit({ ...services.limits, keptOutputBytes: 0 }).middleware,
        ...(known === undefined ? [] : [removeSecrets(known)]),
      ],
      clock,
      deadline: clock.now() + LONGEST_TRIAL_MS,
      signal: trial.signal,
      newId,
      logger: services.logger,
    });
  } finally {
    await session.dispose();
  }
}

/** A tool that is answered by people asks them in its agent's space. A test has no space. */
function runnableAlone(one: RegisteredTool, registry: Registry): ToolSet[string] {
  if (one.kind === 'typescript' || !isInteractive(one)) return toTool(one, registry);
  const { description, inputSchema, approval = false } = one;
  return dataTool({ description, inputSchema: dataSchema(inputSchema), approval, effects: 'session' }) as AnyTool;
}
