import { indented, type Notice } from '../../domain/notify/notice.ts';

interface SlackMessage {
  readonly text: string;
  readonly unfurl_links: false;
  readonly unfurl_media: false;
}

/** A message for an incoming webhook. Links are not unfurled, because that would open them. */
export function toSlackMessage({ title, facts, link, id }: Notice): SlackMessage {
  const lines = [
    `*${escapeSlack(title)}*`,
    ...facts.map(({ label, text }) => `${label}: ${escapeSlack(indented(text))}`),
    ...(link === undefined ? [] : [`<${link.url}|${escapeSlack(link.label)}>`]),
    `_${id}_`,
  ];
  return { text: lines.join('\n'), unfurl_links: false, unfurl_media: false };
}

/** With these three replaced, a text can have neither links nor mentions: `<!channel>` and `<@U1>` are read as they stand. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
