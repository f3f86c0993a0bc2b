import { indented, type Notice, oneLine } from '../../domain/notify/notice.ts';
import type { MailChannel } from '../../domain/notify/notify-target.ts';
import type { Egress } from '../../ports/egress/egress.ts';

interface Mail {
  readonly channel: MailChannel;
  readonly notice: Notice;
  readonly to: string;
}

/** Sends one mail over a connection that the egress guard opened. */
export async function sendMail(
  { egress, signal, timeoutMs }: { readonly egress: Egress; readonly signal: AbortSignal; readonly timeoutMs: number },
  { channel, notice, to }: Mail,
): Promise<void> {
  const { host, port, tls, login } = channel;
  // Loaded with the first mail: most gateways send none.
  const { createTransport } = await import('nodemailer');
  const socket = await egress.connect({ name: host, port }, signal);
  const transport = createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(login === undefined ? {} : { auth: { user: login.user, pass: login.password } }),
    // The signal ends the attempt. These are longer, so that the reason is always the same.
    greetingTimeout: timeoutMs * 2,
    socketTimeout: timeoutMs * 2,
    getSocket: (_options, done) => done(null, { connection: socket }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail(toMail(channel, notice, to));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error;
  } finally {
    transport.close();
    socket.destroy();
  }
}

/** Names and addresses are given as objects: in a text, a comma or a line break would add a recipient or a header. */
function toMail({ from }: MailChannel, notice: Notice, to: string) {
  const { id, title, facts, link, project } = notice;
  const lines = facts.map(({ label, text }) => `${label}: ${indented(text)}`);
  const once = link?.expiresAt === undefined ? [] : [linkNote(link.expiresAt)];
  const links = link === undefined ? [] : [`${link.label}: ${link.url}`, ...once];
  return {
    from: { name: 'Lastcall', address: from },
    to: { name: '', address: to },
    subject: oneLine(`[Lastcall] ${title}`, 200),
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: {
      'Lastcall-Notification': id,
      'Lastcall-Project': oneLine(project, 200),
      'Auto-Submitted': 'auto-generated',
    },
    text: `${[title, '', ...lines, '', ...links].join('\n')}\n`,
    html: toHtml(notice, once),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function linkNote(expiresAt: number): string {
  return `The link works once, until ${new Date(expiresAt).toISOString()}, and acts for you: do not forward it.`;
}

function toHtml({ title, facts, link }: Notice, notes: readonly string[]): string {
  const rows = facts.map(({ label, text }) => `<p><b>${escapeHtml(label)}:</b> ${escapeHtml(text)}</p>`);
  const button = link === undefined ? [] : [`<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`];
  const all = [
    `<h1>${escapeHtml(title)}</h1>`,
    ...rows,
    ...button,
    ...notes.map((note) => `<p>${escapeHtml(note)}</p>`),
  ];
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><body>${all.join('')}</body></html>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}
