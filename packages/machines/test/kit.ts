import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import { scriptedModel, sequentialIds } from '@lastcall/core/testing';
import type { Machine, MachineStep, RunMachineOptions } from '../src/index.ts';
import { runMachine } from '../src/index.ts';

/** A request to the model. */
export type Asked = LanguageModelV4CallOptions;

export type Script = Parameters<typeof scriptedModel>[0];

/** Runs a machine with a scripted model, and returns the steps and the requests to the model. */
export async function run(
  machine: Machine,
  script: Script,
  options: Partial<RunMachineOptions> = {},
): Promise<{ steps: MachineStep[]; requests: readonly LanguageModelV4CallOptions[] }> {
  const model = scriptedModel(script);
  const steps: MachineStep[] = [];
  for await (const step of runMachine(machine, { model, newId: sequentialIds(), ...options })) steps.push(step);
  return { steps, requests: model.requests };
}

export function reasons(steps: readonly MachineStep[]): string[] {
  return steps.map(({ yieldReason }) => yieldReason);
}

/** Name, status and text of each settled call. */
export function outcomes(steps: readonly MachineStep[]): string[][] {
  return steps.flatMap(({ settlements }) =>
    settlements.map(({ toolName, outcome }) => [toolName, outcome.status, outcome.text]),
  );
}

/** The text of each message in a request. */
export function texts(request: LanguageModelV4CallOptions | undefined): string[] {
  return (request?.prompt ?? []).map((message) => `${message.role}: ${textOf(message)}`);
}

export function systemOf(request: LanguageModelV4CallOptions | undefined): string {
  const [first] = request?.prompt ?? [];
  return first?.role === 'system' ? first.content : '';
}

export function toolNames(request: LanguageModelV4CallOptions | undefined): string[] {
  return (request?.tools ?? []).map(({ name }) => name);
}

function textOf({ content }: LanguageModelV4Message): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => {
      switch (part.type) {
        case 'text':
          return part.text;
        case 'tool-call':
          return `${part.toolName}()`;
        case 'tool-result':
          return 'value' in part.output ? String(part.output.value) : part.output.type;
        default:
          return part.type;
      }
    })
    .join(' | ');
}

/** Why a provider would refuse a request: each call must be followed directly by exactly one result. */
export function problemOf({ prompt }: LanguageModelV4CallOptions): string | undefined {
  for (const [index, message] of prompt.entries()) {
    const asked = message.role === 'assistant' ? idsOf(message, 'tool-call') : [];
    const next = prompt[index + 1];
    const answered = next?.role === 'tool' ? idsOf(next, 'tool-result') : [];
    if (asked.join() !== answered.join()) {
      if (asked.length > 0 || message.role !== 'assistant') return `message ${index}: [${asked}] then [${answered}]`;
    }
    if (message.role === 'tool' && prompt[index - 1]?.role !== 'assistant') return `message ${index} follows no calls`;
  }
  return prompt.some(({ role }) => role !== 'system') ? undefined : 'nothing was said';
}

function idsOf({ content }: LanguageModelV4Message, type: 'tool-call' | 'tool-result'): string[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part) => (part.type === type ? [(part as { toolCallId: string }).toolCallId] : []));
}
