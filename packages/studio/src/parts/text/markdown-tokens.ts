import { Lexer, type Token } from 'marked';

/**
 * Parses Markdown of a model or a person. Returns undefined for a text that is nested too deeply. A paragraph that would take the
 * parser long stays plain text.
 */
export function markdownTokens(text: string): readonly Token[] | undefined {
  if (isTooNested(text)) return undefined;
  const lexer = new Lexer({ gfm: true, breaks: true });
  lexer.blockTokens(text.replaceAll(/\r\n?/g, '\n'), lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    if (isSlow(src)) tokens.push({ type: 'text', raw: src, text: src, escaped: false });
    else lexer.inlineTokens(src, tokens);
  }
  return lexer.tokens;
}

/** Checked before the text is parsed, because the parser recurses for each level. */
function isTooNested(text: string): boolean {
  return /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){24}/m.test(text) || /[[(*_~`]{200}/.test(text);
}

/**
 * For each character that may begin something, the parser searches the rest of the paragraph for its end. Without these limits, one
 * message of 20,000 characters would block the page for more than ten seconds.
 */
function isSlow(paragraph: string): boolean {
  return (paragraph.match(/[[*_~`<!]/g)?.length ?? 0) > MOST_DELIMITERS || /[ \t]{500}/.test(paragraph);
}

/** More than a paragraph with a hundred bold words has. */
const MOST_DELIMITERS = 500;
