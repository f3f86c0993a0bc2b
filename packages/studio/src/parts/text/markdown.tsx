import { withVisibleControls } from '@lastcall/client/react';
import type { Token, Tokens } from 'marked';
import { type ReactElement, type ReactNode, useMemo, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { markdownTokens } from './markdown-tokens.ts';
import { SHOWN_CHARACTERS } from './shown-characters.ts';

/**
 * Renders Markdown as React elements without producing HTML. HTML is shown as text, images are links, and links are
 * http(s) or mailto and show where they lead.
 */
export function Markdown({ text }: { text: string }): ReactElement {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > MAX_CHARACTERS;
  const shown = isCut ? text.slice(0, MAX_CHARACTERS) : text;
  const blocks = useMemo(() => parse(shown), [shown]);
  return (
    <div dir="auto" className="flex min-w-0 flex-col gap-2">
      {blocks}
      {isCut && (
        <p>
          <Button onClick={() => setWhole(true)}>Show all {text.length.toLocaleString()} characters</Button>
        </p>
      )}
    </div>
  );
}

/** Ten times the limit of plain text: a report is longer than a line. */
const MAX_CHARACTERS = 10 * SHOWN_CHARACTERS;
/** Deeper nesting is shown as plain text: a thousand quote marks would be a thousand nested elements. */
const MAX_DEPTH = 12;

function parse(text: string): ReactNode {
  try {
    const tokens = markdownTokens(text);
    return tokens === undefined ? <Plain text={text} /> : blocksOf(tokens, 0);
  } catch {
    return <Plain text={text} />;
  }
}

function Plain({ text }: { text: string }): ReactElement {
  return <p className="whitespace-pre-wrap">{withVisibleControls(text)}</p>;
}

function blocksOf(tokens: readonly Token[], depth: number): ReactNode {
  return tokens.map((token, index) => <Block key={index} token={token} depth={depth} />);
}

function Block({ token, depth }: { token: Token; depth: number }): ReactNode {
  if (depth > MAX_DEPTH) return <Plain text={token.raw} />;
  switch (token.type) {
    case 'space':
    case 'def':
    // The item of the list draws it.
    case 'checkbox':
      return null;
    case 'heading':
      // A message is not a chapter of the page, so its headings are lines that stand out.
      return (
        <p dir="auto" className={`font-semibold ${HEADING[token.depth] ?? ''}`}>
          {inlineOf(token.tokens ?? [], depth)}
        </p>
      );
    case 'paragraph':
      // A quote or an item takes its own direction from its text, but not from the text of elements with the attribute.
      return depth === 0 ? (
        <p dir="auto">{inlineOf(token.tokens ?? [], depth)}</p>
      ) : (
        <p className="[unicode-bidi:plaintext]">{inlineOf(token.tokens ?? [], depth)}</p>
      );
    case 'text':
      return <p>{token.tokens === undefined ? withVisibleControls(token.text) : inlineOf(token.tokens, depth)}</p>;
    case 'code':
      return <CodeBlock text={token.text} />;
    case 'blockquote':
      return (
        <blockquote dir="auto" className="flex flex-col gap-2 border-s-2 border-line ps-3 text-quiet">
          {blocksOf(token.tokens ?? [], depth + 1)}
        </blockquote>
      );
    case 'list':
      return <List list={token as Tokens.List} depth={depth} />;
    case 'table':
      return <Table table={token as Tokens.Table} depth={depth} />;
    case 'hr':
      return <hr />;
    default:
      return <Plain text={token.raw} />;
  }
}

/** By level. Deeper ones are as large as the text. */
const HEADING: Readonly<Record<number, string>> = { 1: 'text-xl', 2: 'text-lg', 3: 'text-lg' };

function CodeBlock({ text }: { text: string }): ReactElement {
  return (
    <ScrollRegion label="Code">
      <pre className="font-mono text-xs">{withVisibleControls(text)}</pre>
    </ScrollRegion>
  );
}

function List({ list, depth }: { list: Tokens.List; depth: number }): ReactElement {
  const items = list.items.map((item, index) => (
    <li key={index} dir="auto" className={`ms-5 ${item.task ? 'list-none' : ''}`}>
      {item.task && (item.checked === true ? '☑ ' : '☐ ')}
      <div className="inline-flex max-w-full flex-col gap-1 align-top">{blocksOf(item.tokens, depth + 1)}</div>
    </li>
  ));
  if (!list.ordered) return <ul className="list-disc">{items}</ul>;
  return (
    <ol start={typeof list.start === 'number' ? list.start : 1} className="list-decimal">
      {items}
    </ol>
  );
}

function Table({ table, depth }: { table: Tokens.Table; depth: number }): ReactElement {
  return (
    <div className="overflow-x-auto">
      <table dir="auto" className="border-collapse text-sm">
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} className={`border px-2 py-1 font-medium ${ALIGN[cell.align ?? 'start']}`}>
                {inlineOf(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} className={`border px-2 py-1 ${ALIGN[cell.align ?? 'start']}`}>
                  {inlineOf(cell.tokens, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const ALIGN = { start: 'text-start', left: 'text-left', center: 'text-center', right: 'text-right' } as const;

function inlineOf(tokens: readonly Token[], depth: number): ReactNode {
  return tokens.map((token, index) => <Inline key={index} token={token} depth={depth + 1} />);
}

function Inline({ token, depth }: { token: Token; depth: number }): ReactNode {
  if (depth > MAX_DEPTH) return withVisibleControls(token.raw);
  switch (token.type) {
    case 'text':
      return token.tokens === undefined ? withVisibleControls(token.text) : inlineOf(token.tokens, depth);
    case 'escape':
      return withVisibleControls(token.text);
    case 'strong':
      return <strong>{inlineOf(token.tokens ?? [], depth)}</strong>;
    case 'em':
      return <em>{inlineOf(token.tokens ?? [], depth)}</em>;
    case 'del':
      return <del>{inlineOf(token.tokens ?? [], depth)}</del>;
    case 'codespan':
      return <code className="rounded bg-raised px-1 font-mono text-xs">{withVisibleControls(token.text)}</code>;
    case 'br':
      return <br />;
    case 'checkbox':
      return null;
    case 'link':
      return <SafeLink href={token.href}>{inlineOf(token.tokens ?? [], depth)}</SafeLink>;
    case 'image':
      return <SafeLink href={token.href}>{withVisibleControls(token.text || 'image')}</SafeLink>;
    default:
      return withVisibleControls(token.raw);
  }
}

/** Shows the target beside the link, unless its text already says it. */
function SafeLink({ href, children }: { href: string; children: ReactNode }): ReactNode {
  const target = toSafeUrl(href);
  if (target === undefined) return <>{children}</>;
  const host = target.protocol === 'mailto:' ? target.pathname : target.host;
  return (
    <>
      <a href={target.href} target="_blank" rel="noopener noreferrer nofollow" className="link">
        {children}
      </a>
      {children === host ? null : <span className="text-xs text-quiet"> ({host})</span>}
    </>
  );
}

function toSafeUrl(href: string): URL | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  return SAFE.has(url.protocol) ? url : undefined;
}

const SAFE: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);
