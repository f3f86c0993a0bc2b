import { createHash } from 'node:crypto';
import type { NewEvaluationSample } from '@lastcall/client';
import type { EvalOptions, EvalReport, EvalSample } from '@lastcall/core/eval';
import type { Api } from '../api.ts';
import { CommandFailed, EXIT } from '../exit-code.ts';
import { findAgent } from './find-agent.ts';
import type { Draft } from './run-agent.ts';

/** How much one request has. The gateway takes a megabyte. */
const MOST_SAMPLES = 500;
const MOST_CHARACTERS = 200_000;
const MOST_OF_A_LABEL = 200;
const MOST_OF_A_REPORT = 10_000;
const MOST_SCORES = 20;
/** The gateway stores no more of a response. */
const MOST_OF_A_TEXT = 4_000;

interface Sent {
  readonly name: string;
  readonly agent: EvalOptions['agent'];
  readonly draft: Draft;
  readonly label: string | undefined;
  /** How many samples and scores the report will have. */
  readonly samples: number;
  readonly scores: number;
}

/** Sends the report of an evaluation to the gateway, where the studio shows it beside earlier versions. */
export class ReportSender {
  readonly #api: Api;
  readonly #evaluationId: string;
  readonly #version: string;

  private constructor(api: Api, evaluationId: string, version: string) {
    this.#api = api;
    this.#evaluationId = evaluationId;
    this.#version = version;
  }

  static async open(api: Api, { name, agent, draft, label, ...size }: Sent): Promise<ReportSender> {
    assertFits(label, size);
    const { id } = await api.ask(({ evaluations }) => evaluations.open(name));
    return new ReportSender(api, id, label ?? (await versionOf(api, agent, draft)));
  }

  async send({ samples }: EvalReport): Promise<void> {
    // The same id for all pieces: they are one report, and one that is sent again counts once.
    const id = createHash('sha256')
      .update(JSON.stringify([this.#version, samples]))
      .digest('hex')
      .slice(0, 32);
    let from = 0;
    for (const piece of piecesOf(samples.map(toSent))) {
      const body = { id, version: this.#version, from, samples: piece };
      await this.#api.ask(({ evaluations }) => evaluations.report(this.#evaluationId, body));
      from += piece.length;
    }
    process.stderr.write(`Sent as "${this.#version}". See: ${this.#api.url}/evaluations/${this.#evaluationId}\n`);
  }
}

/** What the gateway would refuse when all cases have been run. */
function assertFits(label: string | undefined, { samples, scores }: Pick<Sent, 'samples' | 'scores'>): void {
  const problem =
    label !== undefined && (label.trim() === '' || label.length > MOST_OF_A_LABEL)
      ? `--label must have 1 to ${MOST_OF_A_LABEL} characters.`
      : samples > MOST_OF_A_REPORT
        ? `The gateway stores at most ${MOST_OF_A_REPORT.toLocaleString('en')} runs of an evaluation, and these are ${samples.toLocaleString('en')}.`
        : scores > MOST_SCORES
          ? `The gateway stores at most ${MOST_SCORES} scores of an evaluation, and these are ${scores}.`
          : undefined;
  if (problem !== undefined) throw new CommandFailed(problem, { exitCode: EXIT.usage });
}

/** What is evaluated: the version of the agent's configuration and the draft, or the time. */
async function versionOf(api: Api, agent: EvalOptions['agent'], { model, file }: Draft): Promise<string> {
  const draft = [...(file === undefined ? [] : [file]), ...(model === undefined ? [] : [model])];
  if (typeof agent !== 'string') return new Date().toISOString().slice(0, 16).replace('T', ' ');
  const { configVersion } = await api.ask((client) => findAgent(client, agent));
  return [`v${configVersion}`, ...draft].join(' + ').slice(0, MOST_OF_A_LABEL);
}

function toSent({ usage, judgeUsage, response, error, scores, calls, ...sample }: EvalSample): NewEvaluationSample {
  const tokens = (usage?.totalTokens ?? 0) + (judgeUsage?.totalTokens ?? 0);
  const shortened = Object.entries(scores).map(([name, { value, reason }]) => [
    name,
    reason === undefined ? { value } : { value, reason: reason.slice(0, MOST_OF_A_TEXT) },
  ]);
  return {
    ...sample,
    case: sample.case.slice(0, 500),
    scores: Object.fromEntries(shortened),
    ...(calls === undefined ? {} : { calls: calls.slice(0, 1_000) }),
    ...(response === undefined ? {} : { response: response.slice(0, MOST_OF_A_TEXT + 1) }),
    ...(error === undefined ? {} : { error: error.slice(0, MOST_OF_A_TEXT + 1) }),
    ...(tokens === 0 ? {} : { tokens }),
  };
}

function* piecesOf(samples: readonly NewEvaluationSample[]): Generator<NewEvaluationSample[]> {
  let piece: NewEvaluationSample[] = [];
  let characters = 0;
  for (const sample of samples) {
    const length = JSON.stringify(sample).length;
    if (piece.length === MOST_SAMPLES || (piece.length > 0 && characters + length > MOST_CHARACTERS)) {
      yield piece;
      [piece, characters] = [[], 0];
    }
    piece.push(sample);
    characters += length;
  }
  if (piece.length > 0) yield piece;
}
