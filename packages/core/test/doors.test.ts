import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

// An exported name can only be removed with a breaking change, so the exports of every entry point are listed here in full.
const DOORS: Readonly<Record<string, { readonly values: string; readonly types: string }>> = {
  '.': {
    values: `
      BudgetUsedUp DeadlineExceededError JournalStalled LastcallError MaxConsecutiveNudgesExceeded MaxInvocationsExceeded
      OptionsError PolicyDenied PromptEvaluationError PromptValidationError ReadOnlyError RestoreFailed SchemaError
      Session SessionError SliceVersionError StaleCallError StoredTranscriptError ToolDefinitionError ToolSetError
      ToolValidationError Transcript TurnFailed VisibilityExpansionRequired blocked cache configureTools createBudget
      createSession dispatchCall fail filterToolSet isToolResult jsonSchema log memoryFilesystem mergeToolSets ok
      pending plan planningSection plugin prompt readBeforeWrite repair replay reply requires resource retry
      rewindTool runTurn secret section sharedResources slice streamTurn toAiSdkTools tool wrapToolSet
    `,
    types: `
      AiSdkTool AiSdkTools Answer AnyTool BrokenInput Budget Change Changes Clock Entry ErrorCode FailResult Filesystem
      FinishedStep Journal JournalRecord JsonSchemaObject Logger Message Middleware MiddlewareCall ModelReply NewId
      OkResult Outcome Part PendingCall PendingResult Plan Policy PolicyContext Problem Prompt ReplyResult Resource
      Resources Secret Section SessionEvent SessionJson Settlement SharedResources Slice Snapshot Staged StartedCall StepInfo Stop Tool
      ToolContext ToolDefinition ToolInvoked ToolResult ToolReturn ToolSet TranscriptJson TurnEvent TurnOptions
      TurnResult TurnStream Usage
    `,
  },
  './eval': {
    values: `
      calledTools compareReports contains cost difference estimate estimateScores evaluate exact hostEvaluations judge latency namedCases
      runCases schema settled
    `,
    types: `
      Difference Estimate EvalCase EvalHost EvalOptions EvalOutput EvalReport EvalSample JudgeOptions Progress
      ReportComparison RunOptions Score ScoreContext ScoreValue ScoredSample
    `,
  },
  './files': {
    values: `
      FilesystemError memoryFilesystem
    `,
    types: `
      ChangedFile FileEntry FileMatch FileStat Filesystem FilesystemErrorCode WriteMode
    `,
  },
  './internal': {
    values: `
      DEFAULT_CONSECUTIVE_NUDGES DEFAULT_MAX_INVOCATIONS DEFAULT_NUDGE addUsage advertise assertFileSize assertJournal assertKnownOptions
      backoffMs brokenOffBefore closestNames dataTool deferred encodeText endingCall forkSession hostedSession inexactNumber isPlainEntry isPolicy isTextReply isUnreadable knownNames leaveUnrecorded liftModel longNumbers mapPrompt matchLines
      measureJson noUsage normalisePath openedSections parseJson parsePathPattern randomId readArguments readUsage recordedEnd recordsProblem remainingMs responseOf schemaSize settlesWithin streamResult systemClock toPlainValue
      toPrompt toTranscriptJson writeModeOf
    `,
    types: `
      Deferred KnownNames SessionHost
    `,
  },
  './node': {
    values: `
      hostFilesystem
    `,
    types: ``,
  },
  './prompt': {
    values: `
      PluginError PromptRenderError PromptValidationError buildModes plan planningSection plugin prompt section
    `,
    types: `
      AgentMode ModeConfig Plan PlanStep PlanningStrategy Plugin Prompt RenderedPrompt Section
    `,
  },
  './sqlite-journal': {
    values: `
      sqliteJournal
    `,
    types: `
      JournalThread SqliteJournal
    `,
  },
  './testing': {
    values: `
      CassetteError ProcessKilled crashingJournal fakeClock killAtEveryBoundary memoryJournal recordModel replayModel
      scriptedModel sequentialIds settled
    `,
    types: `
      CassetteOptions CrashReport CrashScenario CrashTry CrashingJournal FakeClock MemoryJournal RecordOptions ReplayOptions
      ScriptedCall ScriptedModel ScriptedReply
    `,
  },
  './tracing': { values: 'isTraced traceTurn tracing', types: 'TracingOptions TurnSubject' },
};

const folder = join(import.meta.dirname, '..');
const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
  exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

test('the package has these entry points, each with its source, its types and its code', () => {
  expect(Object.keys(exports)).toEqual(Object.keys(DOORS));
  for (const { '@lastcall/source': source = '', types, default: code } of Object.values(exports)) {
    const built = source.replace('./src/', './dist/').replace(/\.ts$/, '');
    expect({ types, code }).toEqual({ types: `${built}.d.ts`, code: `${built}.js` });
  }
});

describe.each(Object.entries(DOORS))('%s', (path, { values, types }) => {
  const source = join(folder, exports[path]?.['@lastcall/source'] ?? '');

  test('exports these values, and no others', async () => {
    expect(Object.keys((await import(source)) as object).sort()).toEqual(words(values));
  });

  test('exports these types, and no others', () => {
    expect(typesOf(readFileSync(source, 'utf8')).sort()).toEqual(words(types));
  });
});

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** The exported names of an entry point that TypeScript erases. Relies on entry points that contain only exports by name. */
function typesOf(door: string): string[] {
  const lists = [...door.matchAll(/^export (type )?\{([^}]*)\} from '[^']+';$/gm)];
  const rest = lists.reduce((text, [list]) => text.replace(list, ''), door.replace(/^\/\/.*$/gm, ''));
  expect(rest.trim()).toBe('');
  return lists.flatMap(([, allTypes, names = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && (allTypes !== undefined || name.startsWith('type ')))
      .map((name) => name.replace('type ', '')),
  );
}
