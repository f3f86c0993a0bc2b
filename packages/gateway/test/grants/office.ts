import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, type TestGatewayOptions, waitFor } from '../../src/testing/index.ts';

/** The next replies of the agent. Without any left it replies "Done." */
export function says(): { readonly next: ScriptedReply[]; readonly model: ReturnType<typeof scriptedModel> } {
  const next: ScriptedReply[] = [];
  return { next, model: scriptedModel(() => next.shift() ?? 'Done.') };
}

export const pays = (input: object): ScriptedReply => [{ toolName: 'pay', input }];

/** A tool as data, so that a test can change it. */
export const PAY = {
  name: 'pay',
  executionType: 'gateway',
  visible: true,
  approval: true,
  description: 'Pays an invoice.',
  inputSchema: {
    type: 'object',
    properties: {
      amount: { type: 'number' },
      to: { type: 'string' },
      customer: { type: 'object', properties: { id: {}, name: {} } },
    },
    required: ['amount'],
  },
  execution: { template: 'Paid.' },
} as const;

/** A clerk who pays on request, and people in its space. */
export interface Office {
  readonly gateway: TestGateway;
  readonly clerk: string;
  readonly space: string;
  readonly ada: Person;
  readonly ben: Person;
  /** Asks the clerk to pay in the space, and returns the call once it waits or has ended. */
  pay(input: object, how?: PayHow): Promise<PaidCall>;
  answer(call: PaidCall, body: object, key?: string): Promise<{ status: number; body: Answered }>;
  call(callId: string): Promise<PaidCall>;
}

interface PayHow {
  readonly through?: TestGateway;
  readonly agent?: string;
  readonly space?: string;
}

interface Person {
  readonly id: string;
  readonly token: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on the fields it reads.
type Answered = any;

export interface PaidCall {
  readonly callId: string;
  readonly runId: string;
  readonly status: string;
  readonly grantId?: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on the fields it reads.
  readonly [field: string]: any;
}

export async function openOffice(options: TestGatewayOptions & { readonly next: ScriptedReply[] }): Promise<Office> {
  const { next, ...others } = options;
  const gateway = await startTestGateway({ agents: [{ name: 'Clerk', instructions: 'Pay.' }], ...others });
  const { api } = gateway;
  const [clerk] = (await api('/api/agents')).items;
  await api('/api/tools', PAY);
  await api(`/api/agents/${clerk.id}`, { tools: ['pay'] }, { method: 'PATCH' });
  const { id: space } = await api('/api/spaces', { name: 'Accounts' });
  const join = (entityId: string) => api(`/api/spaces/${space}/members`, { entityId });
  const person = async (displayName: string): Promise<Person> => {
    const { id } = await api('/api/entities', { kind: 'human', displayName });
    await join(id);
    return { id, token: (await api(`/api/entities/${id}/token`, {})).token };
  };
  await join(clerk.entityId);
  const [ada, ben] = [await person('Ada'), await person('Ben')];
  const call = (callId: string): Promise<PaidCall> => api(`/api/calls/${callId}`);
  return {
    gateway,
    clerk: clerk.id,
    space,
    ada,
    ben,
    call,
    async pay(input, { through = gateway, space: where = space } = {}) {
      next.push(pays(input));
      const message = await through.api(`/api/spaces/${where}/messages`, { entityId: ben.id, text: 'Pay.' });
      const card = await waitFor(async () => {
        const { items } = await api(`/api/spaces/${where}/messages?limit=200`);
        return items.find(
          (one: { seq: number; kind: string; status: string }) =>
            one.seq > message.seq && one.kind === 'tool' && one.status !== 'running',
        );
      });
      const run = await waitFor(async () => {
        const found = await api(`/api/runs/${card.runId}`);
        return found.status !== 'running' && found.status !== 'queued' && found;
      });
      return { ...(await call(card.callId)), runStatus: run.status };
    },
    async answer({ callId, runId }, body, key) {
      const response = await gateway.request(`/api/runs/${runId}/tool-results`, { callId, ...body }, { key });
      return { status: response.status, body: await response.json() };
    },
  };
}
