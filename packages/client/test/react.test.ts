import { setTimeout as sleep } from 'node:timers/promises';
import { pending, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway } from '@lastcall/gateway/testing';
import { act, createElement, type ReactElement, StrictMode, useEffect } from 'react';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Client, createClient } from '../src/index.ts';
import {
  type CardProps,
  LastcallProvider,
  ToolCard,
  type UsedSpace,
  useLastcall,
  usePending,
  useRun,
  useSpace,
} from '../src/react/index.ts';
import { createRoot, window } from './support/page.ts';

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const inputSchema = {
  type: 'object',
  properties: { what: { type: 'string' }, q: { type: 'integer' } },
} as const;
const tools = {
  confirm: { executionType: 'space', inputSchema, resultSchema: { type: 'boolean' }, display: { customUI: 'yesNo' } },
  ask: { executionType: 'space', inputSchema, resultSchema: { type: 'integer' } },
  ask_name: { executionType: 'space', inputSchema, resultSchema: { type: 'string' } },
  /** Asks twice: the second question comes after the first answer. */
  introduce: tool({
    description: 'Introduces two people.',
    inputSchema: z.object({}),
    execute: (_input, { answer }) =>
      answer !== undefined && 'result' in answer && answer.result === 'second'
        ? 'Introduced.'
        : pending({ asks: true }),
  }),
} as const;

interface Desk {
  readonly gateway: TestGateway;
  readonly spaceId: string;
  readonly admin: Client;
  readonly ada: Client;
  readonly ben: Client;
}

/** Two people, others if they are named, and an agent that does what the script says. */
async function openDesk(
  script: (place: { spaceId: string }) => Parameters<typeof scriptedModel>[0],
  { people = [] }: { readonly people?: readonly string[] } = {},
): Promise<Desk> {
  const place = { spaceId: '' };
  const gateway = await startTestGateway({
    model: scriptedModel(script(place)),
    agents: [{ name: 'Clerk', instructions: 'Ask.', tools: Object.keys(tools) }],
    tools,
    spaces: [
      {
        name: 'Desk',
        agents: ['Clerk'],
        people: ['Ada', 'Ben', ...people].map((name) => ({ name, externalId: name })),
      },
    ],
  });
  opened.push(() => gateway.stop());
  const admin = createClient({ url: gateway.url, auth: { key: gateway.secretKey } });
  const as = async (externalId: string) => {
    const [person] = (await admin.entities.list({ externalId })).items;
    return createClient({
      url: gateway.url,
      auth: { token: (await admin.entities.token(person?.id ?? '')).token },
      backoff: { firstMs: 5, maxMs: 20 },
    });
  };
  const [ada, ben] = [await as('Ada'), await as('Ben')];
  place.spaceId = (await ada.spaces.list()).items[0]?.id ?? '';
  return { gateway, admin, ada, ben, ...place };
}

/** Renders into a page, and waits until something is visible in it. */
async function render(client: Client, element: ReactElement, components = {}) {
  const container = document.createElement('div');
  const root = createRoot(container);
  // As in development: React mounts everything twice.
  const show = (shown: ReactElement, as = client): Promise<void> =>
    act(async () =>
      root.render(createElement(StrictMode, null, createElement(LastcallProvider, { client: as, components }, shown))),
    );
  await show(element);
  opened.push(() => act(async () => root.unmount()));
  const seen = async (isThere: (page: HTMLElement) => unknown): Promise<void> => {
    for (const end = Date.now() + 30_000; !isThere(container); ) {
      if (Date.now() > end) throw new Error(`It is not to be seen: ${container.innerHTML}`);
      await act(() => sleep(10));
    }
  };
  const one = (selector: string) => container.querySelector(selector) as HTMLElement & { value: string };
  const click = (selector: string) => act(async () => one(selector).click());
  const write = (selector: string, text: string) =>
    act(async () => {
      const field = one(selector);
      // React overrides the setter on the element to tell user input from its own writes, so the setter of the prototype is called.
      let kind = Object.getPrototypeOf(field);
      while (!Object.hasOwn(kind, 'value')) kind = Object.getPrototypeOf(kind);
      Object.getOwnPropertyDescriptor(kind, 'value')?.set?.call(field, text);
      field.dispatchEvent(new window.Event('input', { bubbles: true }) as never);
    });
  return { container, show, seen, one, click, write };
}

function Room({ id }: { id: string }): ReactElement {
  const { space, members, items, active, connection, error } = useSpace(id);
  return createElement(
    'main',
    { 'data-connection': connection, 'data-active': active.length, 'data-error': error?.message },
    createElement('h1', null, space?.name),
    createElement('p', null, members.map(({ displayName }) => displayName).join(', ')),
    items.map((item) =>
      item.kind === 'text'
        ? createElement('article', { key: item.id, 'data-whole': item.message !== undefined }, item.text)
        : createElement(ToolCard, { key: item.id, item }),
    ),
  );
}

function YesNo({ call, state, answer }: CardProps<{ what: string }, boolean>): ReactElement {
  return createElement(
    'form',
    { 'data-status': state.status },
    createElement('b', null, `${call.input?.what}?`),
    createElement('button', { type: 'button', onClick: () => void answer({ result: true }) }, 'Yes'),
    state.status === 'lost' ? `${state.by.name} was faster` : call.by?.name,
  );
}

const enter = ({ spaceId }: { spaceId: string }) => ({ toolName: 'enter_space', input: { spaceId } });

describe('the hooks', () => {
  test('[S10] useSpace shows messages, cards by their component, who answered, and each once, as it happens', async () => {
    const { ada, spaceId } = await openDesk((place) => [
      () => enter(place),
      { toolName: 'send_message', input: { text: 'One moment.' } },
      { toolName: 'confirm', input: { what: 'Book' } },
      'Waiting.',
      { toolName: 'send_message', input: { text: 'Booked.' } },
      'Done.',
    ]);
    await ada.spaces.say(spaceId, { text: 'Before.' });
    const page = await render(ada, createElement(Room, { id: spaceId }), { yesNo: YesNo });
    await page.seen((root) => root.textContent?.includes('One moment.'));
    await page.seen((root) => root.querySelector('form[data-status=waiting]'));
    expect(page.one('h1').textContent).toBe('Desk');
    expect(page.one('p').textContent?.split(', ').toSorted()).toEqual(['Ada', 'Ben', 'Clerk']);
    expect(page.one('b').textContent).toBe('Book?');
    await page.click('button');
    await page.seen((root) => root.textContent?.includes('Booked.'));
    await page.seen((root) => root.querySelector('main[data-active="0"]'));
    expect(page.one('form').dataset.status).toBe('complete');
    expect(page.one('form').textContent).toContain('Ada');
    const texts = [...page.container.querySelectorAll('article')].map(({ textContent }) => textContent);
    expect(texts).toEqual(['Before.', 'One moment.', 'Booked.']);
    expect(page.one('main').dataset.connection).toBe('live');
  });

  test('[S10] a call without a component has a card that takes any answer, and says what is wrong with it', async () => {
    const { ada, spaceId } = await openDesk((place) => [
      () => enter(place),
      { toolName: 'ask', input: { q: 1 } },
      'W',
      'D',
    ]);
    const page = await render(ada, createElement(Room, { id: spaceId }));
    await page.seen((root) => root.querySelector('h1')?.textContent === 'Desk');
    await act(async () => void (await ada.spaces.say(spaceId, { text: 'Ask me.' })));
    await page.seen((root) => root.querySelector('[data-card=ask][data-status=waiting]'));
    expect(page.one('button').hasAttribute('disabled')).toBe(true);
    await page.write('textarea', '"many"');
    await page.click('button');
    await page.seen((root) => root.querySelector('[data-status=refused]'));
    expect(page.one('[role=status]').textContent).toContain('result');
    // The text that was typed stays.
    expect(page.one('textarea').value).toBe('"many"');
    await page.write('textarea', '7');
    await page.click('button');
    await page.seen((root) => root.querySelector('[data-status=complete]'));
    expect(page.one('[role=status]').textContent).toBe('Done. (Ada)');
  });

  test('[S10] a call whose result is a text has a card that takes it as it is written, without quotes', async () => {
    const { ada, spaceId } = await openDesk((place) => [
      () => enter(place),
      { toolName: 'ask_name', input: { what: 'Who?' } },
      'W',
      'D',
    ]);
    const page = await render(ada, createElement(Room, { id: spaceId }));
    await page.seen((root) => root.querySelector('h1')?.textContent === 'Desk');
    await act(async () => void (await ada.spaces.say(spaceId, { text: 'Ask me.' })));
    await page.seen((root) => root.querySelector('[data-card=ask_name][data-status=waiting]'));
    await page.write('textarea', 'Anna "the fast" Berg');
    await page.click('button');
    await page.seen((root) => root.querySelector('[data-status=complete]'));
    const { items } = await ada.spaces.messages(spaceId);
    expect(items.find(({ kind }) => kind === 'tool')?.metadata.output).toBe('Anna "the fast" Berg');
  });

  test('[S10] two pages agree: the person who is late sees who was faster', async () => {
    const { ada, ben, spaceId } = await openDesk((place) => [
      () => enter(place),
      { toolName: 'confirm', input: { what: 'Book' } },
      'W',
      'D',
    ]);
    const components = {
      yesNo: (props: CardProps) =>
        createElement(
          'form',
          { 'data-status': props.state.status },
          createElement('button', { type: 'button', onClick: () => void props.answer({ result: false }) }, 'No'),
          props.state.status === 'lost' ? `${props.state.by.name} was faster` : '',
        ),
    };
    const page = await render(ben, createElement(Room, { id: spaceId }), components);
    await page.seen((root) => root.querySelector('h1')?.textContent === 'Desk');
    await act(async () => void (await ada.spaces.say(spaceId, { text: 'Ask.' })));
    await page.seen((root) => root.querySelector('form[data-status=waiting]'));
    const [call] = (await ada.pending.list()).items;
    if (call === undefined) throw new Error('Nothing waits.');
    // Both answer at once: Ben's page does not know of Ada's answer when he clicks.
    const answered = await ada.pending.answer(call, { result: true });
    await page.click('button');
    await page.seen(
      (root) => root.querySelector('form[data-status=lost]') ?? root.querySelector('form[data-status=complete]'),
    );
    expect(answered).toMatchObject({ status: 'won' });
    await page.seen((root) => root.textContent?.includes('Ada was faster'));
  });

  test('[S10] the card of a call that asks again can be answered again, and takes no answer to the previous question', async () => {
    const { ada, ben, spaceId } = await openDesk((place) => [
      () => enter(place),
      { toolName: 'introduce', input: {} },
      'W',
      'W',
      'D',
    ]);
    const page = await render(ada, createElement(Room, { id: spaceId }));
    await page.seen((root) => root.querySelector('h1')?.textContent === 'Desk');
    await act(async () => void (await ada.spaces.say(spaceId, { text: 'Introduce them.' })));
    await page.seen((root) => root.querySelector('[data-card=introduce][data-status=waiting]'));
    const [first] = (await ben.pending.list()).items;
    if (first === undefined) throw new Error('Nothing waits.');
    await page.write('textarea', '"first"');
    await page.click('button');
    // The answer to the first question does not count for this one.
    await page.seen((root) => root.querySelector('[data-card=introduce][data-status=waiting]'));
    expect(page.one('[role=status]').textContent).toBe('Waiting for an answer.');
    // Ben still looks at the first question.
    expect(await ben.pending.answer(first, { result: 'second' })).toMatchObject({
      status: 'lost',
      answer: { result: 'first' },
      by: { name: 'Ada' },
    });
    await page.write('textarea', '"second"');
    await page.click('button');
    await page.seen((root) => root.querySelector('[data-status=complete]'));
  });

  test('[S10] usePending lists the calls that wait for me, least time left first, and answers them', async () => {
    const calls = [
      { toolName: 'ask', input: { q: 1 } },
      { toolName: 'confirm', input: { what: 'Book' } },
    ];
    const { ada, spaceId } = await openDesk((place) => [() => enter(place), { calls }, 'W', 'D', 'D']);
    function Inbox(): ReactElement {
      const { calls, answer } = usePending({ everyMs: 20 });
      return createElement(
        'ul',
        { 'data-count': calls?.length },
        calls?.map((call) =>
          createElement(
            'li',
            { key: call.callId },
            createElement('button', {
              id: call.toolName,
              type: 'button',
              onClick: () => void answer(call, { result: 1 }),
            }),
          ),
        ),
      );
    }
    const page = await render(ada, createElement(Inbox));
    await page.seen((root) => root.querySelector('[data-count="0"]'));
    await act(async () => void (await ada.spaces.say(spaceId, { text: 'Ask me.' })));
    await page.seen((root) => root.querySelector('[data-count="2"]'));
    await page.click('#ask');
    await page.seen((root) => root.querySelector('[data-count="1"]'));
    expect(page.container.querySelector('#confirm')).not.toBeNull();
  });

  test('[S10] usePending shows no calls of another list, or of another user, while it loads', async () => {
    const { ada, ben, spaceId } = await openDesk((place) => [() => enter(place), { toolName: 'ask', input: { q: 1 } }]);
    const committed: string[] = [];
    const who = new Map<Client, string>([
      [ada, 'Ada'],
      [ben, 'Ben'],
    ]);
    function Inbox({ show }: { show: 'waiting' | 'answered' }): ReactElement {
      const { calls } = usePending({ show, everyMs: 20 });
      const { client } = useLastcall();
      useEffect(() => {
        committed.push(`${who.get(client)} ${show} ${calls?.map(({ status }) => status) ?? 'loading'}`);
      }, [client, show, calls]);
      return createElement('p', { 'data-count': calls?.length }, show);
    }
    const page = await render(ada, createElement(Inbox, { show: 'waiting' }));
    await ada.spaces.say(spaceId, { text: 'Ask me.' });
    await page.seen((root) => root.querySelector('[data-count="1"]'));
    await page.show(createElement(Inbox, { show: 'answered' }));
    await page.seen((root) => root.querySelector('[data-count="0"]'));
    expect(committed).not.toContain('Ada answered pending');
    await page.show(createElement(Inbox, { show: 'waiting' }));
    await page.seen((root) => root.querySelector('[data-count="1"]'));
    const changed = committed.length;
    await page.show(createElement(Inbox, { show: 'waiting' }), ben);
    expect(committed[changed]).toBe('Ben waiting loading');
  });

  test('[S10] usePending loads its calls again once one of them is answered', async () => {
    const calls = [
      { toolName: 'ask', input: { q: 1 } },
      { toolName: 'confirm', input: { what: 'Book' } },
    ];
    const { ada, spaceId } = await openDesk((place) => [() => enter(place), { calls }, 'W', 'D', 'D']);
    await ada.spaces.say(spaceId, { text: 'Ask me.' });
    await expect.poll(async () => (await ada.pending.list()).items.length).toBe(2);
    function Inbox(): ReactElement {
      const { calls: [first, ...others] = [], answer } = usePending({ everyMs: 3_600_000 });
      const onClick = (): void => void (first && answer(first, { result: 1 }));
      return createElement('button', { type: 'button', id: 'first', 'data-others': others.length, onClick });
    }
    const page = await render(ada, createElement(Inbox));
    await page.seen((root) => root.querySelector('[data-others="1"]'));
    await page.click('#first');
    await page.seen((root) => root.querySelector('[data-others="0"]'));
  });

  test('[S10] usePending does not ask again while the gateway has not answered', async () => {
    const { gateway, admin } = await openDesk(() => []);
    const answered = Promise.withResolvers<void>();
    let asked = 0;
    const slowly: typeof fetch = async (...[url, init]) => {
      asked += 1;
      await answered.promise;
      return fetch(url, init);
    };
    const slow = createClient({ url: gateway.url, auth: { key: gateway.secretKey }, fetch: slowly });
    function Inbox(): ReactElement {
      return createElement('p', { 'data-count': usePending({ everyMs: 1 }).calls?.length });
    }
    const page = await render(slow, createElement(Inbox));
    for (let count = 0; count < 10; count++) await admin.runs.list();
    // React mounts everything twice, and the first request is given up.
    expect(asked).toBe(2);
    answered.resolve();
    await page.seen((root) => root.querySelector('[data-count="0"]'));
    await page.seen(() => asked > 2);
  });

  test('[S10] usePending lists all calls that wait, and useSpace all members, also if there are more than a page has', async () => {
    const many = Array.from({ length: 205 }, (_one, index) => index);
    const calls = many.map((q) => ({ toolName: 'ask', input: { q } }));
    const { ada, spaceId } = await openDesk((place) => [() => enter(place), { calls }], {
      people: many.map((number) => `Person ${number}`),
    });
    function Counts(): ReactElement {
      const { calls } = usePending({ everyMs: 200 });
      const { members } = useSpace(spaceId);
      return createElement('p', { 'data-calls': calls?.length, 'data-members': members.length });
    }
    const page = await render(ada, createElement(Counts));
    await ada.spaces.say(spaceId, { text: 'Ask me.' });
    // Ada, Ben and the agent are members too.
    await page.seen((root) => root.querySelector('[data-calls="205"][data-members="208"]'));
  });

  test('[S10] useRun shows the steps of a run and their calls as they end, also after the run', async () => {
    const { admin, ada, spaceId } = await openDesk((place) => [
      () => enter(place),
      async () => {
        await sleep(100);
        return {
          calls: [
            { toolName: 'ask', input: { q: 1 } },
            { toolName: 'no_such_tool', input: {} },
          ],
        };
      },
      'Done.',
      'Thank you.',
    ]);
    await ada.spaces.say(spaceId, { text: 'Go.' });
    const [run] = await expect
      .poll(async () => (await admin.runs.list()).items)
      .not.toEqual([])
      .then(async () => (await admin.runs.list()).items);
    function Timeline({ id }: { id: string }): ReactElement {
      const { run, steps } = useRun(id);
      const lines = steps.map(({ step, text, calls }) => {
        const ends = calls.map(({ toolName, outcome }) => `${toolName}: ${outcome?.status}`);
        return `${step} ${[...ends, text].join(', ')}`;
      });
      return createElement('pre', { 'data-status': run?.status }, lines.join('\n'));
    }
    const page = await render(admin, createElement(Timeline, { id: run?.id ?? '' }));
    await page.seen((root) => root.querySelector('[data-status=waiting]'));
    await page.seen((root) => root.textContent?.endsWith('Done.'));
    expect(page.one('pre').textContent).toBe('1 enter_space: ok, \n2 ask: pending, no_such_tool: error, \n3 Done.');
    // The call is answered long after its run; its outcome is shown in the run too.
    const [call] = (await admin.pending.list()).items;
    await ada.pending.answer({ runId: call?.runId ?? '', callId: call?.callId ?? '' }, { result: 3 });
    await page.seen((root) => root.textContent?.includes('2 ask: ok, no_such_tool: error'));
    await page.seen((root) => root.querySelector('[data-status=completed]'));
  });

  test('[S10] useRun shows all steps of a run that ends while it loads them', async () => {
    const { gateway, admin, ada, spaceId } = await openDesk((place) => [
      () => enter(place),
      async () => {
        await released.promise;
        return { toolName: 'send_message', input: { text: 'Late.' } };
      },
      'Done.',
    ]);
    const released = Promise.withResolvers<void>();
    await ada.spaces.say(spaceId, { text: 'Go.' });
    await expect.poll(async () => (await admin.runs.list()).items).toHaveLength(1);
    const id = (await admin.runs.list()).items[0]?.id ?? '';
    /** Delays the first response with the steps until the run has ended. */
    const slowly = async (...[url, init]: Parameters<typeof fetch>): Promise<Response> => {
      const response = await fetch(url, init);
      if (!String(url).includes('/transcript')) return response;
      released.resolve();
      await expect.poll(async () => (await admin.runs.get(id)).status).toBe('completed');
      return response;
    };
    const slow = createClient({ url: gateway.url, auth: { key: gateway.secretKey }, fetch: slowly });
    function Timeline(): ReactElement {
      const { run, steps } = useRun(id);
      return createElement('pre', { 'data-status': run?.status }, steps.map(({ step }) => step).join(' '));
    }
    const page = await render(slow, createElement(Timeline));
    await page.seen((root) => root.querySelector('[data-status=completed]'));
    expect(page.one('pre').textContent).toBe('1 2 3');
  });

  /** Two runs of conversations: the first is about to write, and the second waits for its model. `hold` keeps responses back. */
  async function openTwoRuns(hold: (url: string, firstId: string) => Promise<void> | undefined) {
    const [write, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const model = scriptedModel(async ({ prompt }) => {
      const isFirst = JSON.stringify(prompt).includes('The first.');
      await (isFirst ? write : end).promise;
      return isFirst ? { text: 'Writing.', calls: [{ toolName: 'no_such_tool' }] } : 'Written.';
    });
    const gateway = await startTestGateway({ model, agents: [{ name: 'Clerk', instructions: 'Write.' }] });
    opened.push(async () => {
      end.resolve();
      await gateway.stop();
    });
    const { chat, runs } = createClient({ url: gateway.url, auth: { key: gateway.secretKey } });
    const first = await chat.stream({ message: 'The first.' })[Symbol.asyncIterator]().next();
    const firstId = first.value?.type === 'run.start' ? first.value.runId : '';
    chat.send({ message: 'The second.' }).catch(() => {});
    await expect.poll(async () => (await runs.list()).items.length).toBe(2);
    const secondId = (await runs.list()).items.find(({ id }) => id !== firstId)?.id ?? '';
    const slowly = async (...[url, init]: Parameters<typeof fetch>): Promise<Response> => {
      const response = await fetch(url, init);
      await hold(String(url), firstId);
      return response;
    };
    const slow = createClient({ url: gateway.url, auth: { key: gateway.secretKey }, fetch: slowly });
    return { slow, firstId, secondId, write: () => write.resolve() };
  }

  test('[S10] what the model wrote in a run is not shown once the page has changed to another run', async () => {
    let isHeld = false;
    const never = new Promise<void>(() => {});
    const { slow, firstId, secondId, write } = await openTwoRuns((url, id) =>
      isHeld && url.includes(`${id}/transcript`) ? never : undefined,
    );
    function Writing({ id }: { id: string }): ReactElement {
      const { run, writing } = useRun(id, { withWriting: true });
      return createElement('pre', { 'data-run': run?.id, 'data-status': run?.status }, writing);
    }
    const page = await render(slow, createElement(Writing, { id: firstId }));
    await page.seen((root) => root.querySelector('[data-status=running]'));
    // While the step is not known to have ended, its text is shown.
    isHeld = true;
    write();
    await page.seen((root) => root.textContent === 'Writing.');
    await page.show(createElement(Writing, { id: secondId }));
    await page.seen((root) => root.querySelector(`[data-run="${secondId}"][data-status=running]`));
    expect(page.one('pre').textContent).toBe('');
  });

  test('[S10] a run whose cancellation is answered after the page has changed to another run is not shown', async () => {
    const answered = Promise.withResolvers<void>();
    const { slow, firstId, secondId } = await openTwoRuns((url) =>
      url.endsWith('/cancel') ? answered.promise : undefined,
    );
    let cancelling: Promise<void> | undefined;
    function Shown({ id }: { id: string }): ReactElement {
      const { run, cancel } = useRun(id);
      const onClick = (): void => {
        cancelling = cancel();
      };
      return createElement('button', { type: 'button', onClick }, run?.id);
    }
    const page = await render(slow, createElement(Shown, { id: firstId }));
    await page.seen((root) => root.textContent === firstId);
    await page.click('button');
    await page.show(createElement(Shown, { id: secondId }));
    await page.seen((root) => root.textContent === secondId);
    await act(async () => {
      answered.resolve();
      await cancelling;
    });
    expect(page.one('button').textContent).toBe(secondId);
  });

  test('[S9] a message that is posted while a page whose connection was cut loads its space is shown', async () => {
    const { gateway, ada, spaceId } = await openDesk(() => []);
    const held: (() => void)[] = [];
    const cut = new AbortController();
    let streamed = '';
    /** Keeps each response with messages back, and cuts the first stream. */
    const roughly = async (...[url, init]: Parameters<typeof fetch>): Promise<Response> => {
      const response = await fetch(url, init);
      if (String(url).includes('/messages')) await new Promise<void>((resolve) => held.push(resolve));
      if (!String(url).endsWith('/stream')) return response;
      const { signal } = cut;
      const passing = new TransformStream<Uint8Array, Uint8Array>({
        start: (controller) => signal.addEventListener('abort', () => controller.error(new TypeError('network error'))),
        transform(chunk, controller) {
          streamed += new TextDecoder().decode(chunk);
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body?.pipeThrough(passing), response);
    };
    const rough = createClient({
      url: gateway.url,
      auth: { key: gateway.secretKey },
      fetch: roughly,
      backoff: { firstMs: 5 },
    });
    const page = await render(rough, createElement(Room, { id: spaceId }));
    await page.seen(() => held.length === 1);
    await act(async () => cut.abort());
    await page.seen(() => held.length === 2);
    await act(async () => held[0]?.());
    await ada.spaces.say(spaceId, { text: 'Meanwhile.' });
    await page.seen(() => streamed.includes('Meanwhile.'));
    await act(async () => held[1]?.());
    await page.seen((root) => root.textContent?.includes('Meanwhile.'));
  });

  test('[S10] useSpace begins with the newest messages, and loads earlier ones in their order', async () => {
    const { ada, spaceId } = await openDesk(() => Array.from({ length: 100 }, () => ''));
    const said = Array.from({ length: 60 }, (_, index) => `Message ${index + 1}`);
    for (const text of said) await ada.spaces.say(spaceId, { text });
    function History(): ReactElement {
      const { items, hasEarlier, loadEarlier } = useSpace(spaceId);
      const texts = items.map((item) => (item.kind === 'text' ? item.text : ''));
      return createElement(
        'button',
        { type: 'button', onClick: () => void loadEarlier(), 'data-earlier': hasEarlier },
        texts.join('|'),
      );
    }
    const page = await render(ada, createElement(History));
    await page.seen((root) => root.textContent === said.slice(10).join('|'));
    expect(page.one('button').dataset.earlier).toBe('true');
    await page.click('button');
    await page.seen((root) => root.textContent === said.join('|'));
    expect(page.one('button').dataset.earlier).toBe('false');
  });

  test('[S10] earlier messages that arrive after the page has changed to another space are not shown in it', async () => {
    const { gateway, admin, ada, spaceId } = await openDesk(() => []);
    for (let count = 1; count <= 60; count++) await ada.spaces.say(spaceId, { text: `Desk ${count}` });
    const { id: entityId } = (await admin.entities.list({ externalId: 'Ada' })).items[0] ?? { id: '' };
    const other = await admin.spaces.create({ name: 'Other', members: [{ entityId }] });
    await ada.spaces.say(other.id, { text: 'Private.' });
    const arrived = Promise.withResolvers<void>();
    /** Delays earlier messages until the other space is shown. */
    const slowly = async (...[url, init]: Parameters<typeof fetch>): Promise<Response> => {
      const response = await fetch(url, init);
      if (String(url).includes('before=')) await arrived.promise;
      return response;
    };
    const slow = createClient({ url: gateway.url, auth: { key: gateway.secretKey }, fetch: slowly });
    let loading: Promise<void> | undefined;
    function History({ id }: { id: string }): ReactElement {
      const { items, hasEarlier, loadEarlier } = useSpace(id);
      const onClick = (): void => {
        loading = loadEarlier();
      };
      const texts = items.map((item) => (item.kind === 'text' ? item.text : ''));
      return createElement('button', { type: 'button', onClick, 'data-earlier': hasEarlier }, texts.join('|'));
    }
    const page = await render(slow, createElement(History, { id: spaceId }));
    await page.seen((root) => root.textContent?.endsWith('Desk 60'));
    await page.click('button');
    await page.show(createElement(History, { id: other.id }));
    await page.seen((root) => root.textContent === 'Private.');
    await act(async () => {
      arrived.resolve();
      await loading;
    });
    expect(page.one('button').textContent).toBe('Private.');
    expect(page.one('button').dataset.earlier).toBe('false');
  });

  test('[S10] a space and a run that could not be loaded are loaded again, also while their streams stay connected', async () => {
    const { gateway, admin, ada, spaceId } = await openDesk(() => ['Done.']);
    await ada.spaces.say(spaceId, { text: 'Go.' });
    await expect.poll(async () => (await admin.runs.list({ status: 'completed' })).items).toHaveLength(1);
    const runId = (await admin.runs.list()).items[0]?.id ?? '';
    const failures = new Map<string, number>();
    /** The first answers with the messages and the entries are those of a database that is away. */
    const failing: typeof fetch = async (...[url, init]) => {
      const name = /(messages|transcript)(\?|$)/.exec(String(url))?.[1];
      const count = failures.get(name ?? '') ?? 0;
      if (name === undefined || count === 3) return fetch(url, init);
      failures.set(name, count + 1);
      return Response.json({ error: { code: 'store_unavailable', message: 'The database is away.' } }, { status: 503 });
    };
    const client = createClient({
      url: gateway.url,
      auth: { key: gateway.secretKey },
      fetch: failing,
      attempts: 1,
    });
    function Both(): ReactElement {
      const { items, error } = useSpace(spaceId);
      const { run, error: failure } = useRun(runId);
      return createElement('p', {
        'data-items': items.length,
        'data-status': run?.status,
        'data-error': (error ?? failure)?.message,
      });
    }
    const page = await render(client, createElement(Both));
    await page.seen((root) => root.querySelector('[data-error="The database is away."]'));
    await page.seen((root) => root.querySelector('[data-items="2"][data-status=completed]:not([data-error])'));
  });

  test('[S10] members who could not be loaded after one has joined are loaded again, and the error goes', async () => {
    const { gateway, admin, spaceId } = await openDesk(() => []);
    let isAway = false;
    let failures = 0;
    const failing: typeof fetch = async (...[url, init]) => {
      if (!isAway || !/members(\?|$)/.test(String(url)) || failures === 3) return fetch(url, init);
      failures++;
      return Response.json({ error: { code: 'store_unavailable', message: 'The database is away.' } }, { status: 503 });
    };
    const client = createClient({ url: gateway.url, auth: { key: gateway.secretKey }, fetch: failing, attempts: 1 });
    const page = await render(client, createElement(Room, { id: spaceId }));
    await page.seen((root) => root.querySelector('main[data-connection=live]:not([data-error]) h1')?.textContent);
    isAway = true;
    const { id: entityId } = await admin.entities.create({ kind: 'human', displayName: 'Cleo' });
    await admin.spaces.addMember(spaceId, { entityId });
    await page.seen((root) => root.querySelector('[data-error="The database is away."]'));
    await page.seen((root) => root.querySelector('main:not([data-error]) p')?.textContent?.includes('Cleo'));
    expect(failures).toBe(3);
  });

  test('[S10] say of useSpace with the same clientMessageId writes one message', async () => {
    const { ada, spaceId } = await openDesk(() => ['Done.']);
    let say: UsedSpace['say'] | undefined;
    function Writer(): ReactElement {
      ({ say } = useSpace(spaceId));
      return createElement('p');
    }
    await render(ada, createElement(Writer));
    const once = { clientMessageId: 'draft-1' };
    const [first, again] = [await say?.('Hello.', once), await say?.('Hello.', once)];
    expect(again?.id).toBe(first?.id);
    const { items } = await ada.spaces.messages(spaceId, {});
    expect(items.filter(({ text }) => text === 'Hello.')).toHaveLength(1);
  });

  test('[S10] a page that changes to another space or run never shows the one before in its place', async () => {
    const { gateway, admin, ada, spaceId } = await openDesk(() => ['Done.', 'Done.']);
    const other = await admin.spaces.create({ name: 'Other' });
    await ada.spaces.say(spaceId, { text: 'Go.' });
    await expect.poll(async () => (await admin.runs.list()).items).toHaveLength(1);
    const runId = (await admin.runs.list()).items[0]?.id ?? '';
    const committed: unknown[] = [];
    function Both({ space, run }: { space: string; run: string }): ReactElement {
      const { space: shownSpace, error } = useSpace(space);
      const { run: shownRun, error: failure } = useRun(run);
      useEffect(() => {
        const isOther = (shownSpace?.id ?? space) !== space || (shownRun?.id ?? run) !== run;
        if (isOther || (run === runId && failure)) committed.push([space, shownSpace?.id, run, shownRun?.id, failure]);
      }, [space, run, shownSpace, shownRun, failure]);
      return createElement('p', {
        'data-space': shownSpace?.id,
        'data-run': shownRun?.id,
        'data-error': !!(error ?? failure),
      });
    }
    const page = await render(
      createClient({ url: gateway.url, auth: { key: gateway.secretKey } }),
      createElement(Both, { space: spaceId, run: runId }),
    );
    await page.seen((root) => root.querySelector(`[data-space="${spaceId}"][data-run="${runId}"]`));
    await page.show(createElement(Both, { space: other.id, run: 'none' }));
    await page.seen((root) => root.querySelector(`[data-space="${other.id}"][data-error=true]`));
    await page.show(createElement(Both, { space: spaceId, run: runId }));
    await page.seen((root) => root.querySelector(`[data-space="${spaceId}"][data-run="${runId}"][data-error=false]`));
    expect(committed).toEqual([]);
  });

  test('a space that does not exist gives a readable error, and a hook without a provider says what is missing', async () => {
    const { ada } = await openDesk(() => ['Hello.']);
    const page = await render(ada, createElement(Room, { id: 'none' }));
    await page.seen((root) => root.querySelector('[data-error]'));
    expect(page.one('main').dataset.error).toContain('none');
    const { renderToString } = await import('react-dom/server');
    expect(() => renderToString(createElement(Room, { id: 'none' }))).toThrow('LastcallProvider');
  });
});
