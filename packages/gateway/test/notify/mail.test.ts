import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { expect, test } from 'vitest';
import { createEntity } from '../../src/domain/entities/entity.ts';
import type { MailChannel } from '../../src/domain/notify/notify-target.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { embedded } from '../support/stores.ts';
import { BASE_URL, deliver, openCall, rowsOf, targetTo } from './desk.ts';

interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

/** A real SMTP server for the test. */
async function startMailServer(options: SMTPServerOptions = {}) {
  const mails: ReceivedMail[] = [];
  let connections = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : (mailFrom?.address ?? '');
        mails.push({ from, to: rcptTo.map(({ address }) => address), text: Buffer.concat(pieces).toString() });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  server.server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    mails,
    port,
    host: `127.0.0.1:${port}`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const mailTo = (port: number, more: Partial<MailChannel> = {}): MailChannel => ({
  ...{ kind: 'email', host: '127.0.0.1', port, tls: 'none', login: undefined },
  ...{ from: 'lastcall@example.com', to: 'ops@example.com' },
  ...more,
});

/** The headers by name, and the parts, decoded. */
function parse(text: string) {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const headers = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const decoded = rest
    .join('\r\n\r\n')
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return { headers, names: headers.map((line) => line.slice(0, line.indexOf(':')).toLowerCase()), body: decoded };
}

describeIdleWorld({ title: 'notifications by e-mail', on: embedded }, ({ world }) => {
  test('[O8] a waiting call is sent by e-mail, with a link, and the id of the notification', async () => {
    await using server = await startMailServer();
    await using gateway = deliver(world, [targetTo(mailTo(server.port), { name: 'mail' })], { allow: [server.host] });
    const callId = await openCall(world, await world.agent('Clerk'), {
      kind: 'result',
      answeredBy: { entities: [] },
      input: { question: 'Shall I pay?', account: 'DE-4711' },
    });
    await gateway.send();
    const [mail] = server.mails;
    const [row] = await rowsOf(world, { callId });
    expect(mail).toMatchObject({ from: 'lastcall@example.com', to: ['ops@example.com'] });
    const { headers, body } = parse(mail?.text ?? '');
    expect(headers).toContain('Subject: [Lastcall] send_money waits for an answer');
    expect(headers).toContain(`Lastcall-Notification: ${row?.id}`);
    expect(headers).toContain(`Message-ID: <${row?.id}@example.com>`);
    expect(body).toContain('Agent: Clerk');
    expect(body).toContain('Question: Shall I pay?');
    expect(body).toContain(`${BASE_URL}/calls/${callId}`);
    expect(body).not.toContain('4711');
    expect(row).toMatchObject({ status: 'sent', attempts: 1 });
  });

  test('[O8] names with line breaks add neither headers nor recipients', async () => {
    await using server = await startMailServer();
    await using gateway = deliver(world, [targetTo(mailTo(server.port), { name: 'mail' })], { allow: [server.host] });
    const agentId = await world.agent('Clerk');
    const evil = 'X\r\nBcc: evil@example.com\r\n\r\n<script>alert(1)</script>';
    await world.in((tx) => tx.db.updateTable('agents').set({ name: evil }).where('id', '=', agentId).execute());
    await openCall(world, agentId, { toolName: 'pay\r\nBcc: evil@example.com\u2028\u202e' });
    await gateway.send();
    const [mail] = server.mails;
    expect(mail?.to).toEqual(['ops@example.com']);
    const { names, headers, body } = parse(mail?.text ?? '');
    expect(names).not.toContain('bcc');
    expect(headers.find((line) => line.startsWith('Subject:'))).toBe(
      'Subject: [Lastcall] pay Bcc: evil@example.com waits for approval',
    );
    expect(body).not.toMatch(/^Bcc:/m);
    const [, html = ''] = body.split('<!doctype html>');
    expect(html).not.toContain('<script>');
    expect(html).toContain('&#60;script&#62;');
  });

  test('[O8] a question cannot imitate the line with the link', async () => {
    await using server = await startMailServer();
    await using gateway = deliver(world, [targetTo(mailTo(server.port), { name: 'mail' })], { allow: [server.host] });
    await openCall(world, await world.agent(), {
      kind: 'result',
      answeredBy: { entities: [] },
      input: { question: 'Ready?\r\nOpen the call: https://evil.example/\u2028Open the call: https://evil.example/' },
    });
    await gateway.send();
    // In the HTML, a line break is a space.
    const [text = ''] = parse(server.mails[0]?.text ?? '').body.split('<!doctype html>');
    expect(text.match(/^Open the call: .*/gm)).toEqual([expect.stringContaining(BASE_URL)]);
  });

  test('[O8] a mail to people is sent to the address in their metadata, one for each', async () => {
    await using server = await startMailServer();
    const target = targetTo(mailTo(server.port, { to: undefined }), { name: 'people', recipient: 'answerers' });
    await using gateway = deliver(world, [target], { allow: [server.host] });
    const people = await Promise.all(
      ['ada', 'ben'].map((name) =>
        world.in((tx) =>
          createEntity(tx, { kind: 'human', displayName: name, metadata: { email: `${name}@example.com` } }),
        ),
      ),
    );
    const spaceId = await world.space(
      'Office',
      people.map(({ id }) => id),
    );
    await openCall(world, await world.agent(), { spaceId });
    await gateway.send();
    expect(server.mails.map(({ to }) => to).sort()).toEqual([['ada@example.com'], ['ben@example.com']]);
    const links = server.mails.map(({ text }) => /\/card#(\S+)/.exec(parse(text).body)?.[1]);
    expect(new Set(links).size).toBe(2);
    expect(parse(server.mails[0]?.text ?? '').body).toContain('do not forward it');
  });

  test('[O8] a mail server on an internal address is refused without a connection', async () => {
    await using server = await startMailServer();
    const named = targetTo(mailTo(server.port, { host: 'mail.example' }), { name: 'named' });
    const lookup = (_name: string, _options: unknown, done: (...given: unknown[]) => void) =>
      done(null, [{ address: '127.0.0.1', family: 4 }]);
    await using gateway = deliver(world, [targetTo(mailTo(server.port), { name: 'literal' }), named], {
      lookup: lookup as never,
    });
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    expect(server.connections()).toBe(0);
    expect((await rowsOf(world, { callId })).map(({ error }) => error).sort()).toEqual([
      'The connection to 127.0.0.1 is refused: loopback.',
      'The connection to mail.example is refused: its address 127.0.0.1 is loopback.',
    ]);
  });

  test('[O8] with starttls nothing is sent over a connection that is not encrypted', async () => {
    await using server = await startMailServer();
    const channel = mailTo(server.port, { tls: 'starttls' });
    await using gateway = deliver(world, [targetTo(channel, { name: 'plain' })], { allow: [server.host] });
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    expect(server.connections()).toBe(1);
    expect(server.mails).toEqual([]);
    expect(await rowsOf(world, { callId })).toMatchObject([{ status: 'pending', attempts: 1 }]);
  });

  test('[O8] a mail that the server refuses is retried, and its text is not stored', async () => {
    await using server = await startMailServer({
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error('no ops@example.com here'), { responseCode: 550 })),
    });
    await using gateway = deliver(world, [targetTo(mailTo(server.port), { name: 'refusing' })], {
      allow: [server.host],
    });
    const callId = await openCall(world, await world.agent());
    await gateway.send();
    expect(await rowsOf(world, { callId })).toMatchObject([
      { status: 'pending', error: 'The mail server answered 550.' },
    ]);
  });

  test('[O8] [O13] an attempt with a mail server that sends nothing, or never stops, ends with an error', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    const flooding = createServer((socket) => {
      const piece = 'x'.repeat(65_536);
      const more = (): void => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on('drain', more).on('error', () => {});
      more();
    }).listen(0, '127.0.0.1');
    await Promise.all([once(silent, 'listening'), once(flooding, 'listening')]);
    const ports = [silent, flooding].map((server) => (server.address() as AddressInfo).port);
    const [silentPort = 0, floodingPort = 0] = ports;
    try {
      const targets = [
        targetTo(mailTo(silentPort), { name: 'silent-mail' }),
        targetTo(mailTo(floodingPort), { name: 'flooding-mail' }),
      ];
      const allow = ports.map((port) => `127.0.0.1:${port}`);
      await using gateway = deliver(world, targets, { allow, timeoutMs: 1_000 });
      await openCall(world, await world.agent());
      await gateway.send();
      const errors = await Promise.all(
        targets.map(async ({ name }) => (await rowsOf(world, { target: name })).at(-1)?.error),
      );
      expect(errors).toEqual([
        'It did not answer within 1 s.',
        'It answered, but the message could not be sent (EPROTOCOL).',
      ]);
    } finally {
      silent.close();
      flooding.close();
    }
  });
});
