import type { AgentConfig, Run, Status, Stop } from '@lastcall/client';

/** Why a run ended, as a sentence, and the setting that decided it, if one did. */
export interface StopSentence {
  readonly text: string;
  /** The name of the setting in the agent's configuration, e.g. `limits.maxSteps`. */
  readonly setting?: string;
  /** The agent's value. Undefined if the agent sets none and the gateway's default applies. */
  readonly value?: number | undefined;
}

interface Known {
  readonly config?: AgentConfig | undefined;
  readonly steps?: number | undefined;
}

export function statusInWords(
  run: Pick<Run, 'status' | 'stop' | 'cancelRequestedAt'>,
  known: Known = {},
): StopSentence {
  const { status, stop, cancelRequestedAt } = run;
  if (status === 'queued') return { text: 'waits for the request before it' };
  if (status === 'running') return { text: cancelRequestedAt === undefined ? 'is running' : 'is being cancelled' };
  if (status === 'waiting') return { text: 'waits for an answer' };
  if (stop === undefined) return { text: status };
  return stopInWords(stop, known);
}

export function stopInWords(stop: Stop, { config, steps }: Known = {}): StopSentence {
  const { limits = {}, terminating } = config ?? {};
  switch (stop.reason) {
    case 'end_turn':
      return {
        text:
          stop.by === 'text' ? 'completed: the agent had no more to do' : `completed: ${stop.tool} gave the response`,
      };
    case 'transition':
      return { text: `completed: ${stop.tool} handed over` };
    case 'suspended':
      return { text: 'completed: its calls were answered later' };
    case 'max_steps':
      return {
        text: `stopped: it used all its ${counted(limits.maxSteps ?? steps, 'step')}`,
        setting: 'limits.maxSteps',
        value: limits.maxSteps,
      };
    case 'budget':
      if (stop.dimension === 'money') return { text: 'stopped: it reached a spend limit', setting: 'limits.spend' };
      if (stop.dimension === 'tokens' && limits.spend?.perDayTokens !== undefined)
        return { text: 'stopped: it reached its limit of tokens, of the run or of the day', setting: 'limits.spend' };
      return stop.dimension === 'tokens'
        ? {
            // The limit counts the runs that this one continues too, so the tokens of this run would not explain it.
            text: 'stopped: its turn reached the limit of tokens',
            setting: 'limits.tokensPerCycle',
            value: limits.tokensPerCycle,
          }
        : { text: 'stopped: it reached the limit of tool calls' };
    case 'deadline':
      return { text: 'stopped: it ran out of time', setting: 'limits.cycleTimeoutMs', value: limits.cycleTimeoutMs };
    case 'max_invocations':
      return {
        text: 'stopped: it reached the limit of model requests without calling the tool that must end the run',
        setting: 'terminating.maxInvocations',
        value: terminating?.maxInvocations,
      };
    case 'max_nudges':
      return {
        text: 'stopped: it did not call the tool that must end the run, despite reminders',
        setting: 'terminating.consecutiveNudges',
        value: terminating?.consecutiveNudges,
      };
    case 'aborted':
      return { text: 'cancelled' };
    case 'length':
      return { text: 'stopped: the reply of the model was cut off' };
    case 'content_filter':
      return { text: 'stopped: the reply of the model was filtered' };
    case 'error':
      return { text: `failed: ${stop.error}` };
  }
}

/** The gateway's defaults for agents that set nothing. */
export function defaultOf(setting: string | undefined, status: Status | undefined): number | undefined {
  const limits: Readonly<Record<string, unknown>> = status?.agentLimits ?? {};
  const value = setting === undefined ? undefined : limits[setting.replace(/^limits\./, '')];
  return typeof value === 'number' ? value : undefined;
}

function counted(count: number | undefined, what: string): string {
  if (count === undefined) return `${what}s`;
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
}

/** The stop reasons that a list can be filtered by. */
export const STOP_REASONS = {
  end_turn: 'completed',
  suspended: 'stopped for an answer',
  max_steps: 'used all its steps',
  budget: 'used up its budget',
  deadline: 'ran out of time',
  max_invocations: 'asked the model too often',
  max_nudges: 'did not end as required',
  aborted: 'was cancelled',
  length: 'reply cut off',
  content_filter: 'reply filtered',
  error: 'failed',
} as const satisfies Partial<Record<Stop['reason'], string>>;
