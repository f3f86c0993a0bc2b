/** The start and end of an activity. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A period without activity, folded to a narrow break. Positions are fractions of the width, from 0 to 1. */
interface Break {
  readonly from: number;
  readonly to: number;
  readonly span: Span;
  readonly lengthMs: number;
}

export interface TimeScale {
  readonly span: Span;
  readonly breaks: readonly Break[];
  /** The position of a point in time, as a fraction of the width. */
  position(at: number): number;
}

/** Pauses of up to a few seconds are short enough to be drawn at full length. */
const IDLE_MS = 10_000;
/** The fraction of the width that a folded period takes. */
const BREAK_SHARE = 0.06;

/** The periods longer than `idleMs` without activity, within the whole. */
export function idleStretches(spans: readonly Span[], idleMs: number = IDLE_MS): readonly Span[] {
  const sorted = spans.toSorted((a, b) => a.from - b.from);
  const idle: Span[] = [];
  let until = sorted[0]?.to ?? 0;
  for (const { from, to } of sorted) {
    if (from - until > idleMs) idle.push({ from: until, to: from });
    until = Math.max(until, to);
  }
  return idle;
}

/** Places times along a line on which idle periods are folded. */
export function timeScale(spans: readonly Span[], { isFolded = true }: { isFolded?: boolean } = {}): TimeScale {
  const from = Math.min(...spans.map((span) => span.from));
  const to = Math.max(...spans.map((span) => span.to));
  const span = spans.length === 0 ? { from: 0, to: 1 } : { from, to: Math.max(to, from + 1) };
  const idle = isFolded ? idleStretches(spans) : [];
  const pieces = piecesOf(span, idle);
  return {
    span,
    breaks: pieces
      .filter(({ isBreak }) => isBreak)
      .map((piece) => ({ from: piece.start, to: piece.end, span: piece, lengthMs: piece.to - piece.from })),
    position(at) {
      const piece = pieces.find((one) => at <= one.to) ?? pieces.at(-1);
      if (piece === undefined) return 0;
      const share = piece.to === piece.from ? 0 : (Math.max(at, piece.from) - piece.from) / (piece.to - piece.from);
      return piece.start + Math.min(1, share) * (piece.end - piece.start);
    },
  };
}

interface Piece extends Span {
  readonly start: number;
  readonly end: number;
  readonly isBreak: boolean;
}

function piecesOf(span: Span, idle: readonly Span[]): readonly Piece[] {
  const idleMs = idle.reduce((sum, { from, to }) => sum + to - from, 0);
  const busyMs = Math.max(1, span.to - span.from - idleMs);
  // Many breaks share half of the width: the activity needs the rest.
  const breakShare = Math.min(BREAK_SHARE, 0.5 / Math.max(1, idle.length));
  const busyShare = 1 - breakShare * idle.length;
  const pieces: Piece[] = [];
  let [at, start] = [span.from, 0];
  const add = (to: number, width: number, isBreak: boolean): void => {
    pieces.push({ from: at, to, start, end: start + width, isBreak });
    [at, start] = [to, start + width];
  };
  for (const { from, to } of idle) {
    add(from, ((from - at) / busyMs) * busyShare, false);
    add(to, breakShare, true);
  }
  add(span.to, 1 - start, false);
  return pieces;
}
