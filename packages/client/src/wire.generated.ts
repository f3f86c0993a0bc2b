// Printed from /openapi.json by `npm run wire` in packages/client. A test compares. Do not edit.

/** An agent. It is also an entity. */
export type Agent = {
  readonly id: string;
  readonly entityId: string;
  readonly name: string;
  /** The project that it belongs to. Absent for `default`. */
  readonly project?: string | undefined;
  readonly status: "active" | "paused" | "invalid" | "deleted";
  readonly config: AgentConfig;
  readonly configVersion: number;
  readonly activeSpaceId?: string | undefined;
  /** Why its last failed run failed. */
  readonly lastError?: {
    readonly reason: "error";
    readonly error: string;
  } | undefined;
  /** `file`: the configuration file created it, and resets its configuration at each start. */
  readonly source: "file" | "api";
  readonly running?: {
    readonly runId: string;
    readonly since: number;
  } | undefined;
  readonly inbox: {
    /** Events that wait or are being worked on. */
    readonly pending: number;
    readonly dead: number;
    readonly withheld: number;
  };
  /** When its next plan is due. */
  readonly nextPlanAt?: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** An agent's configuration. */
export type AgentConfig = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly definition?: string | undefined;
  readonly model?: string | readonly (string)[] | undefined;
  readonly instructions?: string | undefined;
  readonly tools?: readonly (string | ToolConfig)[] | undefined;
  readonly mcp?: {
    readonly servers?: readonly (McpServerConfig)[] | undefined;
  } | undefined;
  readonly mcpServers?: readonly (McpServerConfig)[] | undefined;
  readonly replies?: "text" | "tools" | undefined;
  /** The groups of built-in tools that the agent has. Default: all. */
  readonly builtIns?: readonly ("messages" | "goals" | "memories" | "plans" | "outputs")[] | undefined;
  readonly settings?: ModelSettings | undefined;
  readonly batch?: BatchConfig | undefined;
  readonly terminating?: TerminatingContract | undefined;
  readonly limits?: AgentLimits | undefined;
  readonly middleware?: readonly (MiddlewareConfig)[] | undefined;
  readonly jobs?: JobsConfig | undefined;
};

/** A text file of an agent. */
export type AgentFile = {
  readonly path: string;
  /** In bytes of UTF-8. */
  readonly size: number;
  readonly changedAt: number;
  /** The call, the entity, the key or the browser session that wrote it last. */
  readonly changedBy: {
    readonly callId: string;
    readonly runId: string;
  } | {
    readonly entityId: string;
  } | {
    readonly keyId: string;
  } | {
    readonly sessionId: string;
  };
};

/** A text file of an agent, with its text. */
export type AgentFileContent = {
  readonly path: string;
  /** In bytes of UTF-8. */
  readonly size: number;
  readonly changedAt: number;
  /** The call, the entity, the key or the browser session that wrote it last. */
  readonly changedBy: {
    readonly callId: string;
    readonly runId: string;
  } | {
    readonly entityId: string;
  } | {
    readonly keyId: string;
  } | {
    readonly sessionId: string;
  };
  readonly content: string;
};

/** The limits of one agent. Default: those of the gateway. */
export type AgentLimits = {
  readonly maxSteps?: number | undefined;
  readonly tokensPerCycle?: number | undefined;
  readonly consciousnessTokens?: number | undefined;
  readonly cycleTimeoutMs?: number | undefined;
  readonly eventsPerCycle?: number | undefined;
  readonly inboxLength?: number | undefined;
  readonly maxAttempts?: number | undefined;
  readonly hopLimit?: number | undefined;
  readonly maxGoals?: number | undefined;
  readonly maxMemories?: number | undefined;
  readonly maxPlans?: number | undefined;
  readonly noteLength?: number | undefined;
  readonly subAgentDepth?: number | undefined;
  readonly fileBytes?: number | undefined;
  readonly filesBytes?: number | undefined;
  readonly maxFiles?: number | undefined;
  readonly spend?: SpendLimits | undefined;
};

/** What an agent remembers. */
export type AgentTranscript = {
  readonly messages: readonly (ModelMessage)[];
  readonly entries: readonly (TranscriptEntry)[];
  readonly nextSeq: number;
};

/** A configuration that an agent has or had. */
export type AgentVersion = {
  readonly version: number;
  readonly config: AgentConfig;
  readonly createdAt: number;
};

/** An answer to a call that waits for its result or for approval. */
export type Answer = {
  readonly result: unknown;
} | {
  readonly error: string;
} | {
  readonly approve: true;
  readonly input?: unknown | undefined;
  /** Of a call of a fork: the name of its tool. */
  readonly runForReal?: string | undefined;
  readonly grant?: GrantRequest | undefined;
} | {
  readonly deny: string;
};

/** Who may answer, by id or by role. One match is enough. */
export type Answerers = {
  readonly entities?: readonly (string)[] | undefined;
  readonly roles?: readonly (string)[] | undefined;
};

/** A file of a message. `GET /api/artifacts/{id}` returns its bytes. */
export type Attachment = {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
};

/** Who did it. Empty for a request without credentials. */
export type AuditActor = {
  /** The key, or the key that the session was made with. */
  readonly keyId?: string | undefined;
  readonly keyName?: string | undefined;
  /** The browser session. */
  readonly sessionId?: string | undefined;
  /** The person that the token or the session acts for. */
  readonly entityId?: string | undefined;
  /** It was a key that does not belong to your project. */
  readonly operator?: true | undefined;
};

/** A change that was asked for from outside. It has no texts and no inputs. */
export type AuditEntry = {
  readonly id: string;
  readonly at: number;
  readonly project: string;
  readonly actor: AuditActor;
  /** The `operationId` in this document, e.g. `post_agents`. */
  readonly action: string;
  /** What was changed. */
  readonly subject?: {
    readonly kind: "agent" | "artifact" | "call" | "conversation" | "entity" | "evaluation" | "grant" | "key" | "link" | "MCP tool" | "notification" | "project" | "run" | "session" | "space" | "tool";
    readonly id: string;
  } | undefined;
  /** Where the request came from. */
  readonly address?: string | undefined;
  /** The `X-Request-Id` of the response. */
  readonly requestId?: string | undefined;
  /** The status of the response. */
  readonly status: number;
};

/** What happens to the other calls of a reply. */
export type BatchConfig = {
  readonly onError?: "continue" | "cancel-rest" | undefined;
  readonly afterTerminal?: "skip" | "run" | undefined;
  readonly history?: "keep" | "trim" | undefined;
};

/** A call. With a token: only what its card shows, or what entities that may answer it can see. */
export type Call = {
  readonly callId: string;
  readonly runId: string;
  readonly toolName: string;
  /** Absent if no space sees the call. */
  readonly card?: Message | undefined;
  readonly step?: number | undefined;
  readonly index?: number | undefined;
  readonly status?: "planned" | "running" | "waiting" | "ok" | "denied" | "expired" | "error" | "unknown" | "cancelled" | "skipped" | undefined;
  readonly outcome?: Outcome | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The grant that let the call run without waiting for approval. */
  readonly grantId?: string | undefined;
  /** How often its tool ran, if it ran. */
  readonly attempts?: number | undefined;
  /** The worker that runs or ran it: the one that claimed the job, or a worker of the gateway. */
  readonly worker?: string | undefined;
  readonly createdAt?: number | undefined;
  readonly settledAt?: number | undefined;
  /** Set if it waits or waited for an answer. With a token: only if no space sees the call and its entity may answer it. */
  readonly pending?: PendingCall | undefined;
};

/** What a card shows about its call. */
export type CardCall = {
  readonly kind: "result" | "approval" | "input";
  readonly display?: Display | undefined;
  /** The schema of a result, or for an approval, of an edited input. */
  readonly resultSchema?: JsonSchema | undefined;
  /** Default: every member of the space. */
  readonly answerers?: Answerers | undefined;
  readonly expiresAt?: number | undefined;
  /** The number of the question, if the call waits for input. Include it in the answer. */
  readonly round?: number | undefined;
  /** The original input, if the approver changed it. */
  readonly askedInput?: unknown | undefined;
  readonly decision?: "result" | "error" | "approve" | "deny" | undefined;
  /** Who answered. */
  readonly by?: {
    readonly id: string;
    readonly name: string;
  } | undefined;
  /** When they answered. */
  readonly at?: number | undefined;
  /** The grant that let the call run without waiting. `by` gave it, at `at`. */
  readonly grantId?: string | undefined;
  /** The grant that was given with the approval. */
  readonly givenGrantId?: string | undefined;
  /** False if its calls cannot be granted in advance. */
  readonly mayGrant?: false | undefined;
};

/** Something that a call changed. */
export type Change = {
  /** `event`, `file`, `resource`, `message`, `space`, `goal`, `memory` or `plan`; more may follow. */
  readonly kind: string;
  /** The changed item: the type of the event, the path, the key, or the id of the space. Empty: all items that are not listed. */
  readonly name: string;
  readonly count: number;
  /** For a text file: the lines that changed, as `diff -u` shows them. At most 2,000 characters. */
  readonly diff?: string | undefined;
  /** One of them, or the beginning and the end of its JSON. */
  readonly sample?: unknown | undefined;
};

/** What a call changed, and what was rolled back: everything that a failed call or an earlier attempt did. */
export type Changes = {
  readonly committed: readonly (Change)[];
  readonly discarded: readonly (Change)[];
};

export type ChatAnswer = {
  /** The output of the tool that ended the run, or the text. */
  readonly response: string;
  readonly saved_ai_messages: boolean;
  readonly generated_messages: readonly (ChatMessage)[];
  readonly context_id: string;
  readonly run_id: string;
  /** Why the run ended. */
  readonly stop: {
    readonly reason: string;
    readonly [name: string]: unknown;
  };
  /** Calls that wait for an answer, if `stop.reason` is "suspended". */
  readonly pending_calls?: readonly ({
    readonly tool_call_id: string;
    readonly tool_name: string;
    readonly tool_input: unknown;
    readonly kind: "result" | "approval" | "input";
  })[] | undefined;
};

export type ChatCompletion = {
  readonly id: string;
  readonly object: "chat.completion";
  readonly created: number;
  readonly model: string;
  readonly choices: readonly ({
    readonly index: number;
    readonly message: {
      readonly role: "assistant";
      readonly content: string | null;
      readonly [name: string]: unknown;
    };
    readonly finish_reason: string;
    readonly [name: string]: unknown;
  })[];
  readonly usage: {
    readonly total_tokens: number;
    readonly [name: string]: unknown;
  };
  /** Why the run ended. */
  readonly stop: {
    readonly reason: string;
    readonly [name: string]: unknown;
  };
  readonly run_id: string;
  readonly context_id: string;
  readonly [name: string]: unknown;
};

/** OpenAI's request, with an agent as the model. */
export type ChatCompletionRequest = {
  /** An agent's name or id. */
  readonly model: string;
  readonly stream?: boolean | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly top_p?: number | null | undefined;
  /** False: the messages are removed when the run ends. */
  readonly store?: boolean | null | undefined;
  readonly user?: string | null | undefined;
  readonly safety_identifier?: string | null | undefined;
  readonly parallel_tool_calls?: boolean | null | undefined;
  readonly tool_choice?: string | {
    readonly type: string;
    readonly [name: string]: unknown;
  } | null | undefined;
  readonly messages: readonly ({
    readonly role: "system" | "developer" | "user" | "assistant" | "tool" | "function";
    readonly content?: OpenAiContent | null | undefined;
    readonly refusal?: string | null | undefined;
    readonly tool_calls?: readonly ({
      readonly id: string;
      readonly [name: string]: unknown;
    })[] | null | undefined;
    readonly tool_call_id?: string | null | undefined;
    readonly [name: string]: unknown;
  })[];
  readonly tools?: readonly ({
    readonly type: string;
    readonly function?: {
      readonly name: string;
      readonly description?: string | null | undefined;
      readonly parameters?: Readonly<Record<string, unknown>> | null | undefined;
      readonly [name: string]: unknown;
    } | undefined;
    readonly [name: string]: unknown;
  })[] | null | undefined;
  readonly stream_options?: {
    readonly include_usage?: boolean | null | undefined;
    readonly [name: string]: unknown;
  } | null | undefined;
  readonly max_tokens?: number | null | undefined;
  readonly max_completion_tokens?: number | null | undefined;
  readonly stop?: string | readonly (string)[] | null | undefined;
  readonly seed?: number | null | undefined;
  readonly reasoning_effort?: string | null | undefined;
  readonly presence_penalty?: number | null | undefined;
  readonly frequency_penalty?: number | null | undefined;
  readonly response_format?: {
    readonly type: string;
    readonly [name: string]: unknown;
  } | null | undefined;
  readonly [name: string]: unknown;
};

export type ChatMessage = {
  readonly sender: "human" | "ai";
  readonly message: string;
} | {
  readonly type: "tool_call";
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly tool_input: unknown;
} | {
  readonly type: "tool_response";
  readonly tool_call_id: string;
  readonly tool_output: string;
};

export type ClaimedJob = {
  readonly claimToken: string;
  readonly claimedUntil: number;
  /** 1 for the first worker that claims the job. */
  readonly attempt: number;
  readonly callId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly toolName: string;
  readonly input?: unknown | undefined;
  readonly resultSchema?: JsonSchema | undefined;
  readonly expiresAt?: number | undefined;
};

/** The results of one version, beside the one before it. */
export type ComparedReport = {
  readonly id: string;
  readonly version: string;
  readonly scores: Readonly<Record<string, Estimate>>;
  readonly samples: number;
  readonly failed: number;
  readonly tokens?: number | undefined;
  readonly cost?: number | undefined;
  readonly createdAt: number;
  /** Of each score: what changed since the version before. */
  readonly change?: Readonly<Record<string, Difference>> | undefined;
};

/** A conversation with an agent. */
export type Conversation = {
  readonly id: string;
  readonly agent_id: string;
  /** The entity that may use it with its token. */
  readonly entity_id?: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: number;
};

/** A conversation and a page of its messages. */
export type ConversationWithMessages = {
  readonly id: string;
  readonly agent_id: string;
  /** The entity that may use it with its token. */
  readonly entity_id?: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: number;
  readonly messages: readonly (ChatMessage)[];
  /** The cursor of the next page. Absent on the last page. */
  readonly next?: string | undefined;
};

/** What changed between two versions, case by case. */
export type Difference = {
  /** After minus before. */
  readonly mean: number;
  /** How likely a difference at least as large is, if there is none. */
  readonly p: number;
  /** The number of cases that both have. */
  readonly n: number;
  readonly verdict: "better" | "worse" | "may be chance" | "same";
};

/** How the tool wants its call to be shown. */
export type Display = {
  /** The name of the component that shows the call. */
  readonly customUI?: string | undefined;
  readonly [name: string]: unknown;
};

/** How a run of a draft differs from those of the saved agent. */
export type Draft = {
  readonly changes: DraftChanges;
  /** What is different in nodes of a machine, by the names of the nodes. */
  readonly nodes?: Readonly<Record<string, NodeChanges>> | undefined;
  /** The run before it in the conversation. */
  readonly after?: string | undefined;
  /** The run whose message it answers again. */
  readonly again?: string | undefined;
};

/** Fields of the agent's configuration that are not saved. `null` removes a field. */
export type DraftChanges = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly definition?: string | undefined;
  readonly model?: string | readonly (string)[] | undefined;
  readonly instructions?: string | undefined;
  readonly tools?: readonly (string | ToolConfig)[] | undefined;
  readonly mcp?: {
    readonly servers?: readonly (McpServerConfig)[] | undefined;
  } | undefined;
  readonly mcpServers?: readonly (McpServerConfig)[] | undefined;
  readonly replies?: "text" | "tools" | undefined;
  /** The groups of built-in tools that the agent has. Default: all. */
  readonly builtIns?: readonly ("messages" | "goals" | "memories" | "plans" | "outputs")[] | undefined;
  readonly settings?: ModelSettings | undefined;
  readonly batch?: BatchConfig | undefined;
  readonly terminating?: TerminatingContract | undefined;
  readonly limits?: AgentLimits | undefined;
  readonly middleware?: readonly (MiddlewareConfig)[] | undefined;
  readonly jobs?: JobsConfig | undefined;
  readonly [name: string]: unknown;
};

export type Entity = {
  readonly id: string;
  readonly kind: "human" | "agent" | "service";
  /** The project that it belongs to. Absent for `default`. */
  readonly project?: string | undefined;
  readonly externalId?: string | undefined;
  readonly displayName: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly deletedAt?: number | undefined;
};

/** The erasure of what a person wrote, of a space, a conversation or an agent, and how far it is. */
export type Erasure = {
  readonly id: string;
  readonly kind: "person" | "space" | "conversation" | "agent";
  /** The id of what is erased. */
  readonly subjectId: string;
  /** The project that it belongs to. Absent for `default`. */
  readonly project?: string | undefined;
  readonly status: "running" | "done";
  /** What is done at the moment. */
  readonly phase: "collect" | "sources" | "threads" | "copies" | "files" | "done";
  /** How many rows had texts that were replaced. */
  readonly replaced: number;
  /** Why the last attempt stopped. The next one continues. */
  readonly error?: string | undefined;
  readonly createdAt: number;
  readonly doneAt?: number | undefined;
};

/** What every refusal of the gateway answers. */
export type ErrorBody = {
  readonly error: {
    /** Stable, for programs to test. docs/errors.md lists all codes. */
    readonly code: string;
    /** What was expected, what was sent, and what to do. */
    readonly message: string;
    readonly details?: unknown | undefined;
  };
  readonly [name: string]: unknown;
};

/** A mean, and the interval in which the true value lies with a confidence of 95 %. */
export type Estimate = {
  readonly mean: number | null;
  /** Null: not known, because there is only one value. */
  readonly low: number | null;
  /** Null: not known, because there is only one value. */
  readonly high: number | null;
  /** The number of values. */
  readonly n: number;
};

/** Cases and reports that belong together. */
export type Evaluation = {
  readonly id: string;
  /** The project that it belongs to. Absent for `default`. */
  readonly project?: string | undefined;
  readonly name: string;
  readonly createdAt: number;
};

/** A recorded run as a task with its expected answer. */
export type EvaluationCase = {
  readonly id: string;
  readonly name: string;
  /** What was asked. */
  readonly input: string;
  /** The expected answer. */
  readonly expected: string;
  /** The run with the recorded outcomes. */
  readonly runId: string;
  readonly createdAt: number;
};

/** An evaluation with its newest versions. */
export type EvaluationDetails = {
  readonly id: string;
  /** The project that it belongs to. Absent for `default`. */
  readonly project?: string | undefined;
  readonly name: string;
  readonly createdAt: number;
  /** How many cases are stored. */
  readonly cases: number;
  /** How many reports are stored. */
  readonly reports: number;
  readonly newest?: EvaluationReport | undefined;
  /** The newest first, at most eight. */
  readonly versions: readonly (ComparedReport)[];
};

/** The results of one version. */
export type EvaluationReport = {
  readonly id: string;
  readonly version: string;
  readonly scores: Readonly<Record<string, Estimate>>;
  readonly samples: number;
  readonly failed: number;
  readonly tokens?: number | undefined;
  readonly cost?: number | undefined;
  readonly createdAt: number;
};

/** A case in all versions. */
export type EvaluationResult = {
  readonly case: string;
  /** One for each version that has the case, the newest first. */
  readonly cells: readonly ({
    readonly reportId: string;
    /** The mean of all its scores. */
    readonly value: number;
    /** The first 100. */
    readonly samples: readonly ({
      /** Counts from 1 for each case. */
      readonly sample: number;
      /** By the name of the score. Empty if the run failed. */
      readonly scores: Readonly<Record<string, {
        readonly value: number;
        readonly reason?: string | undefined;
      }>>;
      /** At most 4,000 characters are stored. */
      readonly response?: string | undefined;
      readonly calls?: readonly ({
        readonly toolName: string;
        readonly status: string;
      })[] | undefined;
      /** Set if the run failed. */
      readonly error?: string | undefined;
      readonly ms: number;
      readonly tokens?: number | undefined;
      readonly cost?: number | undefined;
      /** Its run, if this gateway ran it. Of a run that was deleted meanwhile, only the scores are stored. */
      readonly runId?: string | undefined;
    })[];
  })[];
};

/** A conversation that continues a run from one of its steps. */
export type Fork = {
  /** The first run of the fork. */
  readonly runId: string;
  /** The conversation of the fork. */
  readonly contextId: string;
  readonly atStep: number;
  readonly changes: ForkChanges;
  readonly createdAt: number;
};

/** What is different in a fork. */
export type ForkChanges = {
  /** In place of the agent's. */
  readonly instructions?: string | undefined;
  /** In place of the agent's. */
  readonly model?: string | readonly (string)[] | undefined;
  /** They replace those of the same name. */
  readonly settings?: ModelSettings | undefined;
  /** A message that is added before the request of the step. */
  readonly message?: string | undefined;
  /** Other outcomes of calls of the run, by the ids of the calls. */
  readonly outcomes?: Readonly<Record<string, {
    readonly result: unknown;
  } | {
    readonly error: string;
  } | {
    readonly deny: string;
  }>> | undefined;
  /** Names of tools, in place of those in the agent's configuration. */
  readonly tools?: readonly (string)[] | undefined;
  /** What is different in nodes of a machine, by the names of the nodes. */
  readonly nodes?: Readonly<Record<string, NodeChanges>> | undefined;
};

/** What a run was forked from, and what was changed. */
export type ForkedFrom = {
  /** The run that it was forked from. */
  readonly runId: string;
  /** The first step that the fork does itself. */
  readonly atStep: number;
  readonly changes: ForkChanges;
};

export type Goal = {
  readonly key: string;
  readonly description: string;
  readonly status: string;
  readonly priority: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** Approval of later calls, which was given with the approval of one call. */
export type Grant = {
  readonly id: string;
  readonly agentId: string;
  readonly toolName: string;
  /** Until the run ends that continues with the approval, for one hour, or until it is revoked. */
  readonly for: "run" | "hour" | "always";
  readonly conditions: readonly (GrantCondition)[];
  /** `agent`: all calls of the agent. `thread`: only those in the same space or conversation as the call that was approved. */
  readonly reach: "agent" | "thread";
  /** The call that was approved with it. */
  readonly callId: string;
  readonly runId: string;
  readonly spaceId?: string | undefined;
  readonly grantedBy: string;
  readonly grantedByName?: string | undefined;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  readonly status: "active" | "ended";
  readonly endedAt?: number | undefined;
  readonly endReason?: "revoked" | "expired" | "run_ended" | "tool_changed" | "tool_deleted" | "agent_deleted" | undefined;
  readonly endedBy?: string | undefined;
  /** How many calls ran because of it. */
  readonly uses: number;
  readonly lastUsedAt?: number | undefined;
};

/** What a field of the input has to be like. Every test that is given must pass. */
export type GrantCondition = {
  /** A JSON Pointer into the input: `/amount`, `/customer/id`. An input without it is not covered. */
  readonly field: string;
  readonly equals?: unknown | undefined;
  readonly oneOf?: readonly (unknown)[] | undefined;
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
};

/** Approves later calls of the same tool and agent too. `always` needs the scope `write`. */
export type GrantRequest = {
  /** Until the run ends that continues with the approval, for one hour, or until it is revoked. */
  readonly for: "run" | "hour" | "always";
  readonly conditions?: readonly (GrantCondition)[] | undefined;
};

export type Home = {
  /** The runs under way, newest first, at most 20. */
  readonly atWork: readonly (Run)[];
  /** Newest first, at most 20. */
  readonly failed: readonly (Run)[];
  /** Newest first: today is the first. */
  readonly days: readonly (HomeDay)[];
};

/** The figures of one day. */
export type HomeDay = {
  /** In UTC. */
  readonly day: string;
  /** The runs that began on this day. */
  readonly runs: number;
  readonly failed: number;
  /** How long its ended runs took. Absent if there were none. */
  readonly medianMs?: number | undefined;
  /** What 95 of 100 of them took at most. */
  readonly p95Ms?: number | undefined;
  /** The day had more than 1,000 runs: the numbers of runs and their times are those of its newest 1,000. */
  readonly sampled?: true | undefined;
  /** Requests to models. */
  readonly requests: number;
  /** Input and output tokens together. */
  readonly tokens: number;
  /** Null if a price is not configured, or if there are several currencies. */
  readonly cost: number | null;
  readonly currency?: string | undefined;
};

/** Why the last attempt failed, or why the event waits, is dead or withheld. */
export type InboxError = {
  readonly reason: "error";
  readonly error: string;
} | {
  readonly reason: "budget";
  readonly until: number;
} | {
  readonly code: "agent_deleted" | "hop_limit" | "inbox_full";
  readonly message: string;
};

/** An event that wakes an agent. */
export type InboxEvent = {
  readonly type: "space_message";
  readonly messageId: string;
  readonly seq?: number | undefined;
  readonly spaceId: string;
  readonly spaceName: string;
  readonly spaceNumber?: number | undefined;
  readonly from: {
    readonly entityId: string;
    readonly name: string;
    readonly kind: "human" | "agent" | "service";
  };
  readonly text: string;
  readonly replyTo?: string | undefined;
  readonly replyToSeq?: number | undefined;
} | {
  readonly type: "tool_result";
  readonly callId: string;
  readonly toolName: string;
  readonly input?: unknown | undefined;
  readonly outcome: {
    readonly status: "ok";
    readonly value?: unknown | undefined;
  } | {
    readonly status: "error";
    readonly message: string;
  } | {
    readonly status: "expired";
  } | {
    readonly status: "approved";
    readonly input?: unknown | undefined;
  } | {
    readonly status: "denied";
    readonly reason: string;
  } | {
    readonly status: "answered";
    readonly round: number;
  };
  readonly resolvedBy?: {
    readonly entityId: string;
    readonly name: string;
  } | undefined;
} | {
  readonly type: "plan";
  readonly planId: string;
  readonly key: string;
  readonly name: string;
  readonly instruction: string;
  readonly dueAt: number;
  readonly late?: true | undefined;
} | {
  readonly type: "service";
  readonly source: string;
  readonly name: string;
  readonly data?: unknown | undefined;
} | {
  readonly type: "chat";
  readonly runId: string;
  readonly messages: readonly ({
    readonly role: string;
    readonly [name: string]: unknown;
  })[];
  readonly isAnswer?: true | undefined;
  readonly settings: Readonly<Record<string, unknown>>;
} | {
  readonly type: "command";
  readonly name: string;
  readonly input?: unknown | undefined;
  readonly instanceId?: string | undefined;
  /** The command has run, in a run that stopped after it. The machine goes on. */
  readonly hasRun?: true | undefined;
};

/** An event in an agent's inbox. */
export type InboxItem = {
  readonly eventId: string;
  readonly agentId: string;
  readonly type: "space_message" | "tool_result" | "plan" | "service" | "chat" | "command";
  readonly status: "pending" | "claimed" | "done" | "dead" | "withheld";
  readonly priority: number;
  readonly attempts: number;
  readonly event: InboxEvent;
  readonly availableAt: number;
  readonly runId?: string | undefined;
  readonly error?: InboxError | undefined;
  readonly createdAt: number;
};

/** An event of the stream of an agent's jobs. */
export type JobEvent = {
  readonly seq?: number | undefined;
  readonly at?: number | undefined;
  readonly type: "job.available";
  readonly callId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly toolName: string;
  /** How often the job was claimed before. */
  readonly claims: number;
  readonly expiresAt?: number | undefined;
} | {
  readonly seq: number;
  readonly type: "job.claimed";
  readonly at: number;
  readonly callId: string;
  readonly worker: string;
  readonly claimedUntil: number;
} | {
  readonly seq: number;
  readonly type: "job.progress";
  readonly at: number;
  readonly callId: string;
  readonly value?: unknown | undefined;
} | {
  readonly seq: number;
  readonly type: "job.ended";
  readonly at: number;
  readonly callId: string;
  readonly status: "pending" | "resolved" | "expired" | "cancelled";
} | ResetEvent;

/** Where an agent's jobs are announced besides its job stream. */
export type JobsConfig = {
  readonly webhook?: {
    readonly url: string;
    readonly signingSecret: string | readonly (string)[];
  } | undefined;
};

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type Key = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly ("admin" | "write" | "read")[];
  /** The project that it sees. Absent: all of them. */
  readonly project?: string | undefined;
  /** The agents that it may use, by id or name. All other agents and spaces do not exist for it. */
  readonly agents?: readonly (string)[] | undefined;
  /** The ids of the spaces that it may use. All other spaces and agents do not exist for it. */
  readonly spaces?: readonly (string)[] | undefined;
  /** The operations that it may use, as this document writes them, e.g. `POST /chat`. */
  readonly paths?: readonly (string)[] | undefined;
  /** At most so many requests in any period of so many seconds. More get 429. */
  readonly rate?: {
    readonly requests: number;
    readonly seconds: number;
  } | undefined;
  readonly prefix: string;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
};

/** An evaluation, and its newest results. */
export type ListedEvaluation = {
  readonly id: string;
  /** The project that it belongs to. Absent for `default`. */
  readonly project?: string | undefined;
  readonly name: string;
  readonly createdAt: number;
  /** How many cases are stored. */
  readonly cases: number;
  /** How many reports are stored. */
  readonly reports: number;
  readonly newest?: EvaluationReport | undefined;
};

export type Machine = {
  /** The nodes of the charter. */
  readonly nodes: readonly (MachineNode)[];
  /** The tree, each instance before its children. */
  readonly instances: readonly (MachineInstance)[];
  /** The instance that talks with the user. */
  readonly primary?: string | undefined;
  /** Calls that wait for an answer. */
  readonly waiting: readonly (MachineWait)[];
  /** The commands that can be given now. */
  readonly commands: readonly (MachineCommand)[];
  /** The nodes, their transitions and the instances, as a Mermaid flowchart. */
  readonly diagram: string;
};

export type MachineCommand = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly instanceId: string;
  readonly node: string;
};

export type MachineInstance = {
  readonly id: string;
  readonly parentId?: string | undefined;
  readonly node: string;
  readonly worker: boolean;
  /** `idle`, `ready`, `suspended` or `ceded`. */
  readonly phase: string;
  readonly state: unknown;
};

export type MachineNode = {
  readonly name: string;
  readonly worker: boolean;
  /** Absent if they are code that reads the state. */
  readonly instructions?: string | undefined;
  /** Its own model, if it has one. */
  readonly model?: string | undefined;
};

export type MachineWait = {
  readonly callId: string;
  readonly toolName: string;
  readonly kind: "result" | "approval" | "input";
  readonly instanceId: string;
  readonly node: string;
};

export type McpServer = {
  readonly name: string;
  readonly transport: "http" | "stdio";
  readonly status: "connecting" | "up" | "down";
  readonly problem?: string | undefined;
  /** The URL at which a person must authorise the gateway in a browser. Shown to admin keys. */
  readonly authorizationUrl?: string | undefined;
  readonly tools: readonly (string)[];
  /** Tools that changed and wait for approval. */
  readonly held: readonly (string)[];
  /** Entries of its list that are left out, and why. */
  readonly unusable: readonly (string)[];
};

/** An MCP server whose tools an agent has. */
export type McpServerConfig = {
  readonly name: string;
  readonly transport: "http" | "stdio";
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly auth?: {
    readonly type: "token";
    readonly token: string;
  } | {
    readonly type: "client_credentials";
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly scope?: string | undefined;
  } | {
    readonly type: "authorization_code";
    readonly issuer?: string | undefined;
    readonly clientId?: string | undefined;
    readonly clientSecret?: string | undefined;
    readonly scope?: string | undefined;
  } | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly (string)[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly allowedTools?: readonly (string)[] | undefined;
  readonly trusted?: boolean | undefined;
  readonly timeout?: number | undefined;
  readonly connectTimeout?: number | undefined;
  readonly tools?: Readonly<Record<string, {
    readonly visible?: boolean | undefined;
    readonly terminal?: boolean | undefined;
    readonly effects?: "none" | "session" | "external" | undefined;
    readonly approval?: boolean | undefined;
    readonly grants?: false | undefined;
  }>> | undefined;
};

export type McpTool = {
  readonly id: string;
  readonly server: string;
  readonly name: string;
  readonly status: "approved" | "held";
  readonly definition: unknown;
  readonly approvedAt: number;
  readonly approvedBy?: string | undefined;
  readonly held?: {
    readonly fingerprint: string;
    readonly definition: unknown;
    readonly since: number;
  } | undefined;
};

export type Member = {
  readonly spaceId: string;
  readonly entityId: string;
  readonly kind: "human" | "agent" | "service";
  readonly displayName: string;
  readonly role: string;
  readonly joinedAt: number;
  /** The run in which an agent is at work here, as in `agent.active`. */
  readonly activeRunId?: string | undefined;
  /** The last failure of an agent here, as in `agent.failed`. Absent once the agent has written here, or its work is done or has been started again. */
  readonly failure?: {
    readonly runId: string;
    readonly text: string;
    readonly at: number;
    /** Absent if there is no further attempt. */
    readonly retryAt?: number | undefined;
  } | undefined;
};

export type Memory = {
  readonly key: string;
  readonly value: unknown;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** A message in a space, or the card of a tool call. */
export type Message = {
  readonly id: string;
  readonly spaceId: string;
  readonly seq: number;
  readonly entityId: string;
  readonly kind: "text" | "tool";
  readonly text: string;
  readonly replyTo?: string | undefined;
  readonly status: "running" | "complete" | "error" | "requires_action" | "expired" | "cancelled";
  readonly attachments?: readonly (Attachment)[] | undefined;
  /** For a card: `toolName`, `input`, and `output` once it has ended. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly runId?: string | undefined;
  readonly callId?: string | undefined;
  /** Set on the card of a call that waits or waited for an answer. */
  readonly call?: CardCall | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** A part of a message. */
export type MessagePart = {
  readonly type: string;
  readonly [name: string]: unknown;
};

/** A built-in middleware, by name or with its settings. */
export type MiddlewareConfig = "log" | "repair" | {
  readonly retry: {
    readonly attempts: number;
    readonly backoffMs?: number | undefined;
  };
} | {
  readonly cache: {
    readonly ttlMs: number;
    readonly maxEntries?: number | undefined;
  };
} | {
  readonly repair: {
    readonly model?: true | string | undefined;
  };
};

/** What middleware did to the call. */
export type MiddlewareNotes = {
  readonly cache?: {
    readonly storedAt: number;
  } | undefined;
  readonly repair?: {
    readonly by: "rules" | "model";
  } | undefined;
  readonly retry?: {
    readonly attempts: number;
  } | undefined;
};

export type Model = {
  readonly name: string;
  readonly usable: boolean;
  /** What is missing, with the command that fixes it. */
  readonly why?: string | undefined;
};

/** A message as the model receives it. */
export type ModelMessage = {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly (MessagePart)[];
  readonly [name: string]: unknown;
};

/** How the model is asked. Default: as its provider does. */
export type ModelSettings = {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly seed?: number | undefined;
  readonly reasoning?: "provider-default" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | undefined;
  readonly stopSequences?: readonly (string)[] | undefined;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
};

/** One run of one case. */
export type NewEvaluationSample = {
  readonly case: string;
  /** Counts from 1 for each case. */
  readonly sample: number;
  /** By the name of the score. Empty if the run failed. */
  readonly scores: Readonly<Record<string, {
    readonly value: number;
    readonly reason?: string | undefined;
  }>>;
  /** At most 4,000 characters are stored. */
  readonly response?: string | undefined;
  readonly calls?: readonly ({
    readonly toolName: string;
    readonly status: string;
  })[] | undefined;
  /** Set if the run failed. */
  readonly error?: string | undefined;
  readonly ms: number;
  readonly tokens?: number | undefined;
  readonly cost?: number | undefined;
  /** Its run, if this gateway ran it. Of a run that was deleted meanwhile, only the scores are stored. */
  readonly runId?: string | undefined;
};

/** What is different in a node of a machine. */
export type NodeChanges = {
  /** In place of the node's. */
  readonly instructions?: string | undefined;
  /** In place of the node's, or the agent's. */
  readonly model?: string | undefined;
};

/** A message to a target of the configuration. It has no texts. */
export type Notification = {
  /** Sent along, so that receivers can drop repetitions. */
  readonly id: string;
  readonly project: string;
  readonly target: string;
  readonly event: "call.waiting" | "call.expiring" | "agent.failed" | "limit.reached" | "test";
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
  readonly callId?: string | undefined;
  /** The person whom its link acts for. */
  readonly entityId?: string | undefined;
  /** `failed`: given up after the last attempt. `obsolete`: what it was about ended before it was sent. */
  readonly status: "pending" | "sent" | "failed" | "obsolete";
  readonly attempts: number;
  /** The next attempt, while it is pending. */
  readonly nextAt?: number | undefined;
  /** Why the last attempt failed. */
  readonly error?: string | undefined;
  readonly createdAt: number;
  readonly sentAt?: number | undefined;
  readonly linkExpiresAt?: number | undefined;
  readonly linkUsedAt?: number | undefined;
};

/** A target of the configuration, without addresses and secrets. */
export type NotificationTarget = {
  readonly name: string;
  readonly project: string;
  readonly channel: "webhook" | "email" | "slack";
  readonly events: readonly ("call.waiting" | "call.expiring" | "agent.failed" | "limit.reached")[];
  readonly agents?: readonly (string)[] | undefined;
};

/** A text, or a list of parts. */
export type OpenAiContent = string | readonly ({
  readonly type: string;
  readonly text?: string | null | undefined;
  readonly refusal?: string | null | undefined;
  readonly image_url?: string | {
    readonly url: string;
    readonly [name: string]: unknown;
  } | null | undefined;
  readonly [name: string]: unknown;
})[];

export type OpenAiError = {
  readonly error: {
    /** What was expected, what was sent, and what to do. */
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    /** Stable, for programs to test. docs/errors.md lists all codes. */
    readonly code: string;
  };
};

export type OpenAiModel = {
  /** The agent's name, or its id if several agents have the same name. */
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: string;
};

export type OpenAiResponse = {
  readonly id: string;
  readonly object: "response";
  readonly created_at: number;
  readonly status: "completed" | "incomplete" | "in_progress" | "failed" | "cancelled";
  readonly model: string;
  readonly output: readonly ({
    readonly type: string;
    readonly id: string;
    readonly [name: string]: unknown;
  })[];
  readonly conversation: {
    readonly id: string;
  };
  readonly run_id: string;
  readonly context_id: string;
  readonly [name: string]: unknown;
};

/** How a call ended, or that it waits. */
export type Outcome = {
  readonly status: "ok";
  /** Absent if the tool returned nothing. */
  readonly value?: unknown | undefined;
  /** What the model reads. */
  readonly text: string;
  readonly userText?: string | undefined;
  readonly content?: readonly ({
    readonly type: string;
    readonly [name: string]: unknown;
  })[] | undefined;
  readonly cut?: OutputCut | undefined;
  readonly middleware?: MiddlewareNotes | undefined;
} | {
  readonly status: "error";
  readonly code: string;
  readonly message: string;
  /** What the model reads. */
  readonly text: string;
  readonly effect?: "none" | "possible" | undefined;
  readonly cut?: OutputCut | undefined;
  readonly middleware?: MiddlewareNotes | undefined;
} | {
  readonly status: "cancelled" | "skipped";
  readonly reason: string;
  /** What the model reads. */
  readonly text: string;
  readonly cut?: OutputCut | undefined;
  readonly middleware?: MiddlewareNotes | undefined;
} | {
  readonly status: "pending";
  readonly kind: "result" | "approval" | "input";
  readonly expiresAt?: number | undefined;
  readonly onExpiry?: "report" | "fail" | undefined;
  /** The display that the tool returned. */
  readonly display?: unknown | undefined;
  /** What the model reads. */
  readonly text: string;
  readonly cut?: OutputCut | undefined;
  readonly middleware?: MiddlewareNotes | undefined;
};

/** Set if the output was too large and was cut. */
export type OutputCut = {
  readonly characters: number;
  readonly kept: boolean;
};

/** A call that waits for an answer from outside the run. */
export type PendingCall = {
  readonly callId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly spaceId?: string | undefined;
  readonly toolName: string;
  /** The node of the machine that asks, if the agent is one. */
  readonly node?: string | undefined;
  readonly kind: "result" | "approval" | "input";
  readonly input?: unknown | undefined;
  readonly display?: Display | undefined;
  readonly answeredBy?: Answerers | undefined;
  readonly resultSchema?: JsonSchema | undefined;
  readonly status: "pending" | "resolved" | "expired" | "cancelled";
  /** The answer that counted. */
  readonly answer?: Answer | undefined;
  readonly resolvedBy?: string | undefined;
  readonly resolvedByName?: string | undefined;
  /** Answers that came after the call ended, or after the answer that counted. */
  readonly lateAnswers?: readonly ({
    readonly answer: Answer;
    readonly by: string;
    readonly byName?: string | undefined;
    readonly at: number;
  })[] | undefined;
  readonly expiresAt?: number | undefined;
  /** The number of the question, if the call waits for input. */
  readonly round?: number | undefined;
  /** The open call that asks. */
  readonly duringCall?: string | undefined;
  readonly createdAt: number;
  /** False for an approval whose call cannot be granted in advance. */
  readonly mayGrant?: false | undefined;
  readonly resolvedAt?: number | undefined;
  /** Present if workers may claim the call. */
  readonly job?: {
    readonly claims: number;
    readonly worker?: string | undefined;
    readonly claimedUntil?: number | undefined;
  } | undefined;
};

export type Plan = {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly instruction: string;
  /** Set for a recurring plan, together with `timeZone`. */
  readonly cron?: string | undefined;
  readonly timeZone?: string | undefined;
  /** Set for a plan that is due once. */
  readonly at?: number | undefined;
  readonly misfire: "once" | "skip";
  /** When it is due next. Absent once the plan will not be due again. */
  readonly nextAt?: number | undefined;
  readonly lastAt?: number | undefined;
  /** Who set it. The agent cannot change a plan of an operator or of the configuration file. */
  readonly setBy: "agent" | "operator" | "file";
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** A customer of the gateway, with everything that belongs to it. */
export type Project = {
  readonly id: string;
  readonly name: string;
  /** What all its agents together may spend on a day, in UTC. */
  readonly spend?: {
    readonly perDay?: number | undefined;
    readonly perDayTokens?: number | undefined;
    readonly currency?: string | undefined;
  } | undefined;
  readonly createdAt: number;
};

/** Missed events are no longer stored. Reload the state. */
export type ResetEvent = {
  readonly seq: number;
  readonly type: "reset";
};

/** OpenAI's request, with an agent as the model. */
export type ResponsesRequest = {
  /** An agent's name or id. */
  readonly model: string;
  readonly stream?: boolean | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly top_p?: number | null | undefined;
  /** False: the messages are removed when the run ends. */
  readonly store?: boolean | null | undefined;
  readonly user?: string | null | undefined;
  readonly safety_identifier?: string | null | undefined;
  readonly parallel_tool_calls?: boolean | null | undefined;
  readonly tool_choice?: string | {
    readonly type: string;
    readonly [name: string]: unknown;
  } | null | undefined;
  readonly input: string | readonly ({
    readonly type?: string | null | undefined;
    readonly id?: string | null | undefined;
    readonly role?: string | undefined;
    readonly content?: OpenAiContent | null | undefined;
    readonly call_id?: string | undefined;
    readonly output?: OpenAiContent | undefined;
    readonly [name: string]: unknown;
  })[];
  readonly instructions?: string | null | undefined;
  readonly previous_response_id?: string | null | undefined;
  readonly conversation?: string | {
    readonly id: string;
    readonly [name: string]: unknown;
  } | null | undefined;
  readonly tools?: readonly ({
    readonly type: string;
    readonly name?: string | undefined;
    readonly description?: string | null | undefined;
    readonly parameters?: Readonly<Record<string, unknown>> | null | undefined;
    readonly [name: string]: unknown;
  })[] | null | undefined;
  readonly max_output_tokens?: number | null | undefined;
  readonly text?: {
    readonly format?: {
      readonly type: string;
      readonly [name: string]: unknown;
    } | null | undefined;
    readonly verbosity?: string | null | undefined;
    readonly [name: string]: unknown;
  } | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  readonly reasoning?: {
    readonly effort?: string | null | undefined;
    readonly [name: string]: unknown;
  } | null | undefined;
  readonly [name: string]: unknown;
};

/** A run of an agent. */
export type Run = {
  readonly id: string;
  readonly agentId: string;
  readonly threadId: string;
  readonly number: number;
  /** `queued`: it has not started. It has a request of a conversation, or the answer to a waiting call. `waiting`: it has stopped, and a call of it waits for an answer. */
  readonly status: "running" | "waiting" | "completed" | "failed" | "cancelled" | "queued";
  /** The events that woke the agent. */
  readonly trigger: readonly ({
    readonly eventId: string;
    readonly type: "space_message" | "tool_result" | "plan" | "service" | "chat" | "command";
    /** Who sent it, answered, or pushed it, by name. */
    readonly by?: string | undefined;
    /** Its text, at most 200 characters. */
    readonly text?: string | undefined;
    readonly spaceId?: string | undefined;
    /** The call that was answered. */
    readonly callId?: string | undefined;
  })[];
  readonly stop?: Stop | undefined;
  readonly usage?: Usage | undefined;
  readonly configVersion: number;
  readonly mode?: string | undefined;
  /** The number of attempts for its events, including this one. */
  readonly attempt: number;
  /** The run that tried them before. */
  readonly retryOf?: string | undefined;
  /** The run that got the answer to a call that waited in this one. Absent in lists. */
  readonly continuedBy?: string | undefined;
  /** The worker of a gateway that runs it, or ran it last. */
  readonly worker?: string | undefined;
  /** When another worker continued it, oldest first. */
  readonly takeovers?: readonly ({
    readonly at: number;
    /** The last entry of the transcript before it. */
    readonly afterSeq: number;
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    /** How long nothing had been written before the takeover. */
    readonly silentMs: number;
  })[] | undefined;
  /** The number of its calls by status. */
  readonly counts: {
    readonly running: number;
    readonly waiting: number;
    readonly ok: number;
    readonly denied: number;
    readonly expired: number;
    readonly error: number;
    readonly unknown: number;
    readonly cancelled: number;
    readonly skipped: number;
  };
  /** The model of its last reply. Absent in lists. */
  readonly model?: string | undefined;
  /** The final response of the run. Absent in lists. */
  readonly response?: string | undefined;
  /** The answer of the chat endpoints. */
  readonly result?: ChatAnswer | undefined;
  /** What its replies and those of its sub-agents cost, if all prices are configured. Absent in lists. */
  readonly cost?: number | undefined;
  /** Set for a run of a fork. Absent in lists. */
  readonly fork?: ForkedFrom | undefined;
  /** Set for a run of a draft. Absent in lists. */
  readonly draft?: Draft | undefined;
  /** Set for a run of a fork or a draft, in lists too. */
  readonly trial?: Trial | undefined;
  readonly cancelRequestedAt?: number | undefined;
  readonly createdAt: number;
  readonly endedAt?: number | undefined;
};

/** A call of a run, with its whole output. */
export type RunCall = {
  readonly callId: string;
  readonly runId: string;
  readonly toolName: string;
  readonly status: "planned" | "running" | "waiting" | "ok" | "denied" | "expired" | "error" | "unknown" | "cancelled" | "skipped";
  /** Absent while the call runs. */
  readonly outcome?: Outcome | undefined;
  /** The grant that let the call run without waiting for approval. */
  readonly grantId?: string | undefined;
  readonly createdAt: number;
  readonly settledAt?: number | undefined;
};

/** An entry of the transcript of a run. */
export type RunEntry = {
  /** The number within the thread, across its runs. */
  readonly seq: number;
  readonly kind: string;
  readonly at: number;
  readonly entry: TranscriptEntry;
  /** Set on the end of a call that changed something. */
  readonly changes?: Changes | undefined;
  /** Set on a reply, if the price of its model is configured. */
  readonly cost?: number | undefined;
  /** Set on the end of a call that waited: who answered it. */
  readonly by?: {
    readonly id: string;
    readonly name: string;
  } | undefined;
  /** The grant that let the call run without waiting for approval. */
  readonly grantId?: string | undefined;
  /** Set on the wait of a call: how the call stands now. */
  readonly status?: "planned" | "running" | "waiting" | "ok" | "denied" | "expired" | "error" | "unknown" | "cancelled" | "skipped" | undefined;
  /** Set on the wait of a call: how the call ended, perhaps in a later run. */
  readonly ended?: {
    readonly outcome: Outcome;
    readonly at: number;
  } | undefined;
  /** Set on the end of a call that ran a sub-agent: what it did, and the sub-agents that it called. */
  readonly subAgents?: readonly (SubAgentTurn)[] | undefined;
};

/** An event of a run's stream. */
export type RunEvent = {
  readonly seq: number;
  readonly type: "run.start";
  readonly at: number;
  readonly runId: string;
  readonly agentId: string;
} | {
  readonly seq: number;
  readonly type: "step.start";
  readonly at: number;
  readonly step: number;
  readonly attempt: number;
} | {
  readonly seq: number;
  readonly type: "text.delta" | "reasoning.delta";
  readonly at: number;
  readonly step: number;
  readonly delta: string;
} | {
  readonly seq: number;
  readonly type: "tool-input-start";
  readonly at: number;
  readonly callId: string;
  readonly toolName: string;
} | {
  readonly seq: number;
  readonly type: "tool-input-delta";
  readonly at: number;
  readonly callId: string;
  readonly delta: string;
} | {
  readonly seq: number;
  readonly type: "tool-call.start";
  readonly at: number;
  readonly callId: string;
  readonly toolName: string;
  readonly input?: unknown | undefined;
} | {
  readonly seq: number;
  readonly type: "tool-call.progress";
  readonly at: number;
  readonly callId: string;
  readonly value?: unknown | undefined;
} | {
  readonly seq: number;
  readonly type: "nudge";
  readonly at: number;
  readonly step: number;
  readonly text: string;
} | {
  readonly seq: number;
  readonly type: "rewind";
  readonly at: number;
  readonly step: number;
  readonly reason: string;
  readonly guidance: string;
} | {
  readonly seq: number;
  readonly type: "step.end";
  readonly at: number;
  readonly step: number;
  readonly usage: Usage;
} | {
  readonly seq: number;
  readonly type: "tool-call.complete" | "tool-call.error" | "tool-call.cancelled" | "tool-call.skipped" | "tool-call.pending";
  readonly at: number;
  readonly callId: string;
  readonly toolName: string;
  readonly input?: unknown | undefined;
  readonly outcome: Outcome;
  readonly changes?: Changes | undefined;
} | {
  readonly seq: number;
  readonly type: "tool-call.answered";
  readonly at: number;
  readonly callId: string;
  readonly toolName: string;
  readonly decision: "result" | "error" | "approve" | "deny";
  readonly by: {
    readonly id: string;
    readonly name: string;
  };
} | {
  readonly seq: number;
  readonly type: "run.taken";
  readonly at: number;
  readonly runId: string;
  /** The last entry of the transcript before it. */
  readonly afterSeq: number;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** How long nothing had been written before the takeover. */
  readonly silentMs: number;
} | {
  readonly seq: number;
  readonly type: "run.cancelling";
  readonly at: number;
  readonly runId: string;
} | {
  readonly seq: number;
  readonly type: "run.end";
  readonly at: number;
  readonly runId: string;
  readonly status: "completed" | "waiting" | "failed" | "cancelled";
  readonly stop: Stop;
} | ResetEvent;

/** A text that was found. */
export type SearchResult = {
  /** `message`: said in a space or a conversation. `input`, `output`: of a call. `error`: of a call or a run. */
  readonly kind: "message" | "input" | "output" | "error";
  readonly at: number;
  /** Of a message in a space, as are `spaceId` and `seq`. */
  readonly messageId?: string | undefined;
  readonly spaceId?: string | undefined;
  readonly seq?: number | undefined;
  /** Who wrote the message. */
  readonly entityId?: string | undefined;
  readonly runId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly callId?: string | undefined;
  readonly toolName?: string | undefined;
  /** Set if it is of a run of a fork or a draft. */
  readonly trial?: Trial | undefined;
  /** The text around the first match. `isMatch` marks what was searched for. */
  readonly snippet: readonly ({
    readonly text: string;
    readonly isMatch?: true | undefined;
  })[];
};

export type Session = {
  readonly id: string;
  /** What it may do in addition to what its person may do. */
  readonly scopes: readonly ("admin" | "write" | "read")[];
  /** The person who is the author of messages and answers. */
  readonly entity?: {
    readonly id: string;
    readonly displayName: string;
  } | undefined;
  /** The secret key whose revocation ends it. */
  readonly keyId?: string | undefined;
  /** The session that created it and whose end also ends it. */
  readonly makerSessionId?: string | undefined;
  readonly createdAt: number;
  readonly expiresAt: number;
};

/** A call with its outcome. */
export type Settlement = {
  readonly callId: string;
  readonly toolName: string;
  readonly input?: unknown | undefined;
  readonly outcome: Outcome;
  readonly terminal?: true | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
};

export type SignInLink = {
  readonly id: string;
  /** What it may do in addition to what its person may do. */
  readonly scopes: readonly ("admin" | "write" | "read")[];
  /** The person who is the author of messages and answers. */
  readonly entity?: {
    readonly id: string;
    readonly displayName: string;
  } | undefined;
  /** The secret key whose revocation ends it. */
  readonly keyId?: string | undefined;
  /** The session that created it and whose end also ends it. */
  readonly makerSessionId?: string | undefined;
  readonly createdAt: number;
  readonly expiresAt: number;
};

export type Slice = {
  readonly version: number;
  /** Set for a slice that keeps the entries of failed calls. */
  readonly policy?: "log" | undefined;
  readonly state: unknown;
};

export type Space = {
  readonly id: string;
  readonly name: string;
  /** The project that it belongs to. Absent for `default`. */
  readonly project?: string | undefined;
  readonly description: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  /** Since when it is archived. Absent if it is not. */
  readonly archivedAt?: number | undefined;
  /** The `seq` of its newest message. 0: there is none. */
  readonly lastSeq: number;
  /** For a member: messages of others since it last saw the space. At most 100 are counted. */
  readonly unread?: number | undefined;
  /** Calls in it that wait for the member. With a secret key: all waiting calls. */
  readonly waiting?: number | undefined;
};

/** An event of a space's stream. */
export type SpaceEvent = {
  readonly seq: number;
  readonly type: "message.start";
  readonly at: number;
  readonly streamId: string;
  readonly messageId: string;
  readonly replyTo?: string | undefined;
  readonly runId: string;
  readonly entityId: string;
} | {
  readonly seq: number;
  readonly type: "message.delta";
  readonly at: number;
  readonly streamId: string;
  readonly delta: string;
} | {
  readonly seq: number;
  readonly type: "message.complete";
  readonly at: number;
  readonly streamId: string;
  readonly message: Message;
} | {
  readonly seq: number;
  readonly type: "message.cancelled";
  readonly at: number;
  readonly streamId: string;
  readonly reason: string;
} | {
  readonly seq: number;
  readonly type: "tool-call.start";
  readonly at: number;
  readonly callId: string;
  readonly streamId: string;
  readonly toolName: string;
  readonly entityId: string;
  readonly runId?: string | undefined;
  readonly messageId?: string | undefined;
  /** The card, if there is one: an approved call starts again. */
  readonly message?: Message | undefined;
} | {
  readonly seq: number;
  readonly type: "tool-input-delta";
  readonly at: number;
  readonly callId: string;
  readonly delta: string;
} | {
  readonly seq: number;
  readonly type: "tool-call.progress";
  readonly at: number;
  readonly callId: string;
  readonly value?: unknown | undefined;
} | {
  readonly seq: number;
  readonly type: "tool-call.complete" | "tool-call.error" | "tool-call.requires-action" | "tool-call.expired";
  readonly at: number;
  readonly callId: string;
  readonly message: Message;
} | {
  readonly seq: number;
  readonly type: "tool-call.cancelled";
  readonly at: number;
  readonly callId: string;
  readonly message?: Message | undefined;
  /** Set if the call never had a card. */
  readonly reason?: string | undefined;
} | {
  readonly seq: number;
  readonly type: "agent.active" | "agent.inactive";
  readonly at: number;
  readonly runId: string;
  readonly entityId: string;
} | {
  readonly seq: number;
  readonly type: "agent.failed";
  readonly at: number;
  readonly runId: string;
  readonly entityId: string;
  readonly attempt: number;
  /** Absent if there is no further attempt. */
  readonly retryAt?: number | undefined;
  readonly text: string;
} | {
  readonly seq: number;
  readonly type: "member.joined" | "member.left";
  readonly at: number;
  readonly entityId: string;
  readonly role: string;
} | {
  readonly seq: number;
  readonly type: "space.changed";
  readonly at: number;
  readonly space: Space;
} | ResetEvent;

/** How much its models may cost, in money by run and day, or in tokens by day. */
export type SpendLimits = {
  readonly perRun?: number | undefined;
  readonly perDay?: number | undefined;
  readonly perDayTokens?: number | undefined;
  readonly currency?: string | undefined;
};

/** `agentLimits`, `currency`, `definitions`, `counts` and `canCrash` are for keys and sessions that may read. `gatewayId`, `store` and `problems` are for those of all projects, or of the project `default`. */
export type Status = {
  readonly version: string;
  /** The model of agents that name none. */
  readonly model: {
    readonly name: string;
    /** The reason, as a short phrase. */
    readonly why: string;
    readonly isRehearsal: boolean;
    /** How to set a real one, if it is the rehearsal. */
    readonly howToSet?: string | undefined;
  };
  /** The name of this gateway in takeovers of runs. */
  readonly gatewayId?: string | undefined;
  readonly store?: string | undefined;
  /** Problems of the setup, and how to fix them. */
  readonly problems?: readonly (string)[] | undefined;
  /** The limits of agents whose own `limits` do not override them. */
  readonly agentLimits?: {
    readonly maxSteps: number;
    readonly tokensPerCycle: number;
    readonly consciousnessTokens: number;
    readonly cycleTimeoutMs: number;
    readonly eventsPerCycle: number;
    readonly inboxLength: number;
    readonly maxAttempts: number;
    readonly hopLimit: number;
    readonly maxGoals: number;
    readonly maxMemories: number;
    readonly maxPlans: number;
    readonly noteLength: number;
    readonly subAgentDepth: number;
    readonly fileBytes: number;
    readonly filesBytes: number;
    readonly maxFiles: number;
    readonly spend: SpendLimits;
  } | undefined;
  /** The currency of all costs: that of the configured prices. */
  readonly currency?: string | undefined;
  /** The definitions that agents may name, and whether each is a machine. */
  readonly definitions?: readonly ({
    readonly name: string;
    readonly machine: boolean;
  })[] | undefined;
  readonly counts?: {
    readonly agents: number;
    readonly deadEvents: number;
    readonly waitingCalls: number;
  } | undefined;
  /** True for the demo, whose process can be killed on purpose with `POST /api/demo/crash`. */
  readonly canCrash?: true | undefined;
};

/** The request to the model in a step. Only the frame tag is hidden. */
export type StepRequest = {
  readonly model?: string | undefined;
  /** The system text. */
  readonly instructions: string;
  readonly messages: readonly (ModelMessage)[];
  readonly tools: readonly ({
    readonly type: string;
    readonly name?: string | undefined;
    readonly [name: string]: unknown;
  })[];
  /** All other parameters of the request. */
  readonly settings: {
    readonly maxOutputTokens?: number | undefined;
    readonly temperature?: number | undefined;
    readonly toolChoice?: {
      readonly type: string;
      readonly [name: string]: unknown;
    } | undefined;
    readonly [name: string]: unknown;
  };
};

/** Why a run ended. */
export type Stop = {
  readonly reason: "end_turn";
  readonly by: "text";
} | {
  readonly reason: "end_turn";
  readonly by: "terminal" | "terminating";
  readonly tool: string;
} | {
  readonly reason: "transition";
  readonly tool: string;
  readonly callId: string;
  readonly value?: unknown | undefined;
} | {
  readonly reason: "budget";
  readonly dimension: "tokens" | "toolCalls" | "money";
} | {
  readonly reason: "suspended" | "max_steps" | "deadline" | "aborted" | "length" | "content_filter" | "max_invocations" | "max_nudges";
} | {
  readonly reason: "error";
  readonly error: string;
  /** For programs: `no_progress`. Most failures have none. */
  readonly code?: string | undefined;
};

/** A task, from the words that caused it to its end: all its runs, and how long it waited for answers. */
export type Story = {
  /** The run that began it. */
  readonly id: string;
  /** `queued`: its next run has not started. That may be a further attempt of one that failed. */
  readonly status: "running" | "waiting" | "completed" | "failed" | "cancelled" | "queued";
  /** Oldest first, at most 50: of a longer task, the first run and those around the one that was asked for. */
  readonly runs: readonly (Run)[];
  readonly waits: readonly (StoryWait)[];
  readonly startedAt: number;
  /** Absent while it runs or waits. */
  readonly endedAt?: number | undefined;
  /** The task has more runs than one answer has. */
  readonly truncated?: true | undefined;
};

/** How a call of a task waited for an answer. */
export type StoryWait = {
  readonly callId: string;
  readonly runId: string;
  readonly toolName: string;
  readonly kind: "result" | "approval" | "input";
  readonly status: "planned" | "running" | "waiting" | "ok" | "denied" | "expired" | "error" | "unknown" | "cancelled" | "skipped";
  readonly since: number;
  /** When it was answered, expired or was cancelled. */
  readonly until?: number | undefined;
  readonly expiresAt?: number | undefined;
  readonly decision?: "result" | "error" | "approve" | "deny" | undefined;
  /** The input was changed before it was approved. */
  readonly edited?: true | undefined;
  /** The name of the person or service that answered. */
  readonly by?: string | undefined;
};

/** What a sub-agent did in a call. Texts over 4,000 characters are cut. */
export type SubAgentTurn = {
  /** The call that ran the sub-agent, perhaps a call of another sub-agent. */
  readonly callId: string;
  readonly usage: Usage;
  /** If the prices of its models are configured. */
  readonly cost?: number | undefined;
  readonly steps: readonly ({
    readonly step: number;
    readonly text: string;
    readonly model?: string | undefined;
    readonly usage: Usage;
    /** If the prices of its models are configured. */
    readonly cost?: number | undefined;
    readonly calls: readonly ({
      readonly callId: string;
      readonly toolName: string;
      /** The arguments as the model wrote them. */
      readonly input: string;
      /** Absent if the sub-agent ended before the call did. */
      readonly status?: "ok" | "error" | "cancelled" | "skipped" | "pending" | undefined;
      readonly output?: string | undefined;
      readonly startedAt?: number | undefined;
      readonly endedAt?: number | undefined;
    })[];
  })[];
};

/** What a run was asked to do, and what it answered. */
export type Task = {
  readonly runId: string;
  readonly status: string;
  /** What was asked. */
  readonly input: string;
  readonly response?: string | undefined;
  /** In order, of all runs of its turn. */
  readonly calls: readonly ({
    readonly toolName: string;
    readonly status: string;
  })[];
  readonly tokens?: number | undefined;
  readonly createdAt: number;
};

/** The run continues without user messages until one of these tools succeeds. */
export type TerminatingConfig = {
  readonly tool_ids: readonly (string)[];
  /** Default 1. */
  readonly consecutive_nudges?: number | undefined;
  readonly nudge_message?: string | undefined;
  /** Default 64. */
  readonly max_invocations?: number | undefined;
};

/** A run goes on until one of these tools succeeds. */
export type TerminatingContract = {
  readonly toolIds: readonly (string)[];
  readonly consecutiveNudges?: number | undefined;
  readonly nudgeMessage?: string | undefined;
  readonly maxInvocations?: number | undefined;
};

export type Tool = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly source: "built-in" | "file" | "definition" | "mcp" | "api";
  /** The definition that has the tool. */
  readonly definition?: string | undefined;
  /** The project that it belongs to. Absent for `default`. */
  readonly project?: string | undefined;
  readonly executionType: "gateway" | "external" | "space" | "internal";
  readonly visible: boolean;
  readonly effects: "none" | "session" | "external";
  readonly terminal: boolean;
  readonly idempotent: boolean;
  readonly approval: boolean;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema | undefined;
  readonly resultSchema?: JsonSchema | undefined;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  readonly version?: number | undefined;
  readonly usedBy: readonly ({
    readonly id: string;
    readonly name: string;
  })[];
  readonly createdAt?: number | undefined;
  readonly updatedAt?: number | undefined;
};

/** Who may answer the calls of a tool: entities by id or `externalId`, and roles. Default: every member. */
export type ToolAnswerers = {
  readonly entities?: readonly (string)[] | undefined;
  readonly roles?: readonly (string)[] | undefined;
};

/** A tool's configuration. */
export type ToolConfig = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly executionType: "gateway" | "external" | "space" | "internal";
  readonly visible?: boolean | undefined;
  readonly execution?: Readonly<Record<string, unknown>> | undefined;
  readonly display?: ToolDisplay | undefined;
  readonly terminal?: boolean | undefined;
  readonly effects?: "none" | "session" | "external" | undefined;
  readonly idempotent?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  readonly approval?: boolean | undefined;
  readonly keepLatest?: string | undefined;
  readonly expiresInMs?: number | undefined;
  readonly grants?: false | undefined;
  readonly answerers?: ToolAnswerers | undefined;
  readonly resultSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly middleware?: readonly (MiddlewareConfig)[] | undefined;
};

/** The component that shows the calls of a tool. */
export type ToolDisplay = {
  readonly customUI: string;
};

/** One thing that happened in a run. */
export type TranscriptEntry = {
  readonly kind: "turn";
  readonly session?: "kept" | undefined;
  /** Of a machine: the conversation of the instance. */
  readonly thread?: string | undefined;
  readonly instanceId?: string | undefined;
  /** Of a machine: the node of the instance. */
  readonly node?: string | undefined;
  /** Of a machine: the entry is the first of a turn of its instance. */
  readonly begins?: true | undefined;
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "message";
  readonly message: ModelMessage;
  readonly logged?: boolean | undefined;
  /** Of a machine: the conversation of the instance. */
  readonly thread?: string | undefined;
  readonly instanceId?: string | undefined;
  /** Of a machine: the node of the instance. */
  readonly node?: string | undefined;
  /** Of a machine: the entry is the first of a turn of its instance. */
  readonly begins?: true | undefined;
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "reply";
  readonly step: number;
  readonly content: readonly (MessagePart)[];
  readonly calls: readonly ({
    readonly callId: string;
    readonly toolName: string;
    /** The arguments as the model wrote them. */
    readonly input: string;
    readonly providerCallId?: string | undefined;
    readonly provided?: {
      readonly result?: unknown | undefined;
      readonly isError: boolean;
    } | undefined;
  })[];
  readonly text: string;
  readonly finishReason: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";
  readonly usage: Usage;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** How often the model was asked for this reply. */
  readonly attempts?: number | undefined;
  /** What the provider said about the request, e.g. that it does not support a setting. */
  readonly warnings?: readonly (string)[] | undefined;
  /** System messages after the first were sent as user messages. */
  readonly systemAsUser?: true | undefined;
  /** Of a machine: the conversation of the instance. */
  readonly thread?: string | undefined;
  readonly instanceId?: string | undefined;
  /** Of a machine: the node of the instance. */
  readonly node?: string | undefined;
  /** Of a machine: the entry is the first of a turn of its instance. */
  readonly begins?: true | undefined;
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "started";
  readonly callId: string;
  readonly answer?: Answer | undefined;
  /** Of a machine: the conversation of the instance. */
  readonly thread?: string | undefined;
  readonly instanceId?: string | undefined;
  /** Of a machine: the node of the instance. */
  readonly node?: string | undefined;
  /** Of a machine: the entry is the first of a turn of its instance. */
  readonly begins?: true | undefined;
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "pending";
  readonly settlement: Settlement;
  /** Of a machine: the conversation of the instance. */
  readonly thread?: string | undefined;
  readonly instanceId?: string | undefined;
  /** Of a machine: the node of the instance. */
  readonly node?: string | undefined;
  /** Of a machine: the entry is the first of a turn of its instance. */
  readonly begins?: true | undefined;
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "settled";
  readonly settlement: Settlement;
  readonly answer?: Answer | undefined;
  readonly slot?: string | undefined;
  readonly endsTurn?: {
    readonly response: string;
    readonly output?: unknown | undefined;
  } | undefined;
  readonly late?: true | undefined;
  readonly told?: true | undefined;
  /** Of a machine: the conversation of the instance. */
  readonly thread?: string | undefined;
  readonly instanceId?: string | undefined;
  /** Of a machine: the node of the instance. */
  readonly node?: string | undefined;
  /** Of a machine: the entry is the first of a turn of its instance. */
  readonly begins?: true | undefined;
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "trimmed";
  readonly step: number;
  readonly keep: readonly (string)[];
  /** Of a machine: the conversation of the instance. */
  readonly thread?: string | undefined;
  readonly instanceId?: string | undefined;
  /** Of a machine: the node of the instance. */
  readonly node?: string | undefined;
  /** Of a machine: the entry is the first of a turn of its instance. */
  readonly begins?: true | undefined;
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "nudge";
  readonly why: "no-call" | "length" | "last-word";
  readonly role: "system" | "user";
  readonly text: string;
  /** Of a machine: the conversation of the instance. */
  readonly thread?: string | undefined;
  readonly instanceId?: string | undefined;
  /** Of a machine: the node of the instance. */
  readonly node?: string | undefined;
  /** Of a machine: the entry is the first of a turn of its instance. */
  readonly begins?: true | undefined;
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "checkpoint";
  /** Of a machine: the conversation of the instance. */
  readonly thread?: string | undefined;
  readonly instanceId?: string | undefined;
  /** Of a machine: the node of the instance. */
  readonly node?: string | undefined;
  /** Of a machine: the entry is the first of a turn of its instance. */
  readonly begins?: true | undefined;
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "compensating";
  readonly callId: string;
  /** Of a machine: the conversation of the instance. */
  readonly thread?: string | undefined;
  readonly instanceId?: string | undefined;
  /** Of a machine: the node of the instance. */
  readonly node?: string | undefined;
  /** Of a machine: the entry is the first of a turn of its instance. */
  readonly begins?: true | undefined;
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "rewind";
  readonly callId: string;
  readonly text: string;
  readonly remaining: readonly (string)[];
  /** Of a machine: the conversation of the instance. */
  readonly thread?: string | undefined;
  readonly instanceId?: string | undefined;
  /** Of a machine: the node of the instance. */
  readonly node?: string | undefined;
  /** Of a machine: the entry is the first of a turn of its instance. */
  readonly begins?: true | undefined;
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "stop";
  readonly stop: Stop;
  /** Of a machine: the conversation of the instance. */
  readonly thread?: string | undefined;
  readonly instanceId?: string | undefined;
  /** Of a machine: the node of the instance. */
  readonly node?: string | undefined;
  /** Of a machine: the entry is the first of a turn of its instance. */
  readonly begins?: true | undefined;
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "compaction";
  readonly summary: string;
} | {
  readonly kind: "machine";
  readonly change: {
    readonly kind: string;
    readonly [name: string]: unknown;
  };
  /** Of a machine: changes that were written with the entry. */
  readonly also?: readonly ({
    readonly kind: string;
    readonly [name: string]: unknown;
  })[] | undefined;
} | {
  readonly kind: "input";
  readonly [name: string]: unknown;
} | {
  readonly kind: "command-result";
  readonly key: string;
  readonly name: string;
  readonly output?: unknown | undefined;
  readonly error?: string | undefined;
};

/** Says that a run only tries something. */
export type Trial = {
  readonly kind: "fork" | "draft";
  /** The run that it was forked from, or whose message the draft answers again. */
  readonly runId?: string | undefined;
};

/** A message in the format of the AI SDK. */
export type UIMessage = {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly ({
    readonly type: string;
    readonly [name: string]: unknown;
  })[];
};

/** Tokens. */
export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Of the input tokens, those that the provider read from its cache. */
  readonly cachedTokens?: number | undefined;
  /** Of the output tokens, those of reasoning. */
  readonly reasoningTokens?: number | undefined;
  /** The provider counted nothing, or not everything, so the gateway estimated the tokens. */
  readonly estimated?: true | undefined;
};

/** Requests to models, added up. */
export type UsageItem = {
  /** The id of the agent. */
  readonly agent?: string | undefined;
  readonly agentName?: string | undefined;
  /** The provider's name of the model. */
  readonly model?: string | undefined;
  /** In UTC. */
  readonly day?: string | undefined;
  /** The person whose message woke the run, or the caller of a conversation. Null: none. */
  readonly entity?: string | null | undefined;
  readonly entityName?: string | undefined;
  /** What asked the model: a turn, a node of a machine, a sub-agent, a summary or a repair. */
  readonly kind?: "turn" | "fork" | "machine" | "sub-agent" | "summary" | "repair" | undefined;
  readonly requests: number;
  readonly inputTokens: number;
  /** Of the input tokens, those that providers read from their caches. */
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Null if the price of a model is not configured. */
  readonly cost: number | null;
  readonly currency: string;
  /** True if a provider counted nothing for a request, so that the gateway estimated its tokens. */
  readonly estimated: boolean;
};

export type UsageReport = {
  readonly from: string;
  readonly to: string;
  readonly items: readonly (UsageItem)[];
  /** There are more items than one answer has. */
  readonly truncated?: true | undefined;
};

/** A page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The cursor of the next page. Absent on the last page. */
  readonly next?: string | undefined;
  /** Rows of this page that are left out because they are damaged in the database, and what to do. Absent if there are none. */
  readonly damaged?: readonly { readonly id: string; readonly problem: string }[] | undefined;
}

/** Which page of a list. */
export interface PageQuery {
  /** The `next` of the previous page. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

/** An operation. What is not said of it, it does not take. */
interface Operation<O extends { readonly answer: unknown }> {
  readonly params: O extends { readonly params: infer P } ? P : Record<never, never>;
  readonly query: O extends { readonly query: infer Q } ? Q : Record<string, never>;
  readonly body: O extends { readonly body: infer B } ? B : undefined;
  readonly answer: O['answer'];
}

/** What each operation takes and answers. */
export interface Operations {
  'GET /api/agents': Operation<{
    query: PageQuery & {
      readonly status?: "active" | "paused" | "invalid" | "deleted" | undefined;
    };
    answer: Page<Agent>;
  }>;
  'POST /api/agents': Operation<{ body: unknown | unknown; answer: Agent }>;
  'DELETE /api/agents/{id}': Operation<{
    params: { id: string };
    query: {
      /** With `true`, its texts and their copies are erased: the response has the `erasure`. */
      readonly erase?: "true" | "false" | undefined;
    };
    answer: {
      readonly id: string;
      readonly status: "deleted";
      readonly erasure?: Erasure | undefined;
    };
  }>;
  'GET /api/agents/{id}': Operation<{ params: { id: string }; answer: Agent }>;
  'PATCH /api/agents/{id}': Operation<{
    params: { id: string };
    body: {
      readonly name?: string | undefined;
      readonly description?: string | undefined;
      readonly definition?: string | undefined;
      readonly model?: string | readonly (string)[] | undefined;
      readonly instructions?: string | undefined;
      readonly tools?: readonly (string | ToolConfig)[] | undefined;
      readonly mcp?: {
        readonly servers?: readonly (McpServerConfig)[] | undefined;
      } | undefined;
      readonly mcpServers?: readonly (McpServerConfig)[] | undefined;
      readonly replies?: "text" | "tools" | undefined;
      /** The groups of built-in tools that the agent has. Default: all. */
      readonly builtIns?: readonly ("messages" | "goals" | "memories" | "plans" | "outputs")[] | undefined;
      readonly settings?: ModelSettings | undefined;
      readonly batch?: BatchConfig | undefined;
      readonly terminating?: TerminatingContract | undefined;
      readonly limits?: AgentLimits | undefined;
      readonly middleware?: readonly (MiddlewareConfig)[] | undefined;
      readonly jobs?: JobsConfig | undefined;
      readonly machine?: unknown | undefined;
      readonly ifVersion?: number | undefined;
      readonly [name: string]: unknown;
    };
    answer: Agent;
  }>;
  'POST /api/agents/{id}/chat': Operation<{
    params: { id: string };
    query: {
      /** An entity token, for clients that cannot set headers. */
      readonly token?: string | undefined;
    };
    body: {
      /** The id of the chat. A new conversation gets this id. */
      readonly id: string;
      /** Only the newest message is read, or the answers to waiting calls. The rest is stored in the conversation. */
      readonly messages: readonly ({
        readonly id: string;
        readonly role: "system" | "user" | "assistant";
        readonly parts: readonly ({
          readonly type: string;
          readonly [name: string]: unknown;
        })[];
        readonly [name: string]: unknown;
      })[];
      readonly trigger?: "submit-message" | "regenerate-message" | undefined;
      readonly messageId?: string | null | undefined;
      /** Tools that the page runs itself, by name. `inputSchema` is a JSON Schema. */
      readonly tools?: Readonly<Record<string, {
        readonly description?: string | undefined;
        readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
        readonly [name: string]: unknown;
      }>> | undefined;
      readonly [name: string]: unknown;
    };
    answer: string;
  }>;
  'GET /api/agents/{id}/chat/{chatId}/messages': Operation<{
    params: { id: string; chatId: string };
    query: {
      /** The number of turns. Default 50. */
      readonly limit?: number | undefined;
      /** The id of a message: only turns before its own. */
      readonly before?: string | undefined;
    };
    answer: readonly (UIMessage)[];
  }>;
  'GET /api/agents/{id}/chat/{chatId}/stream': Operation<{
    params: { id: string; chatId: string };
    query: {
      /** An entity token, for clients that cannot set headers. */
      readonly token?: string | undefined;
    };
    answer: string;
  }>;
  'GET /api/agents/{id}/consciousness': Operation<{ params: { id: string }; answer: AgentTranscript }>;
  'POST /api/agents/{id}/drafts': Operation<{
    params: { id: string };
    body: {
      /** Default: none. */
      readonly changes?: DraftChanges | undefined;
      /** What is different in nodes of a machine, by the names of the nodes. */
      readonly nodes?: Readonly<Record<string, NodeChanges>> | undefined;
      /** What a person says to the draft. */
      readonly message?: string | undefined;
      /** With `message`: a run of a draft of this agent whose conversation goes on. Default: a new one. */
      readonly after?: string | undefined;
      /** In place of `message`: a run of a draft of this agent whose message is answered again. */
      readonly again?: string | undefined;
    };
    answer: {
      readonly runId: string;
      readonly contextId: string;
    };
  }>;
  'POST /api/agents/{id}/events': Operation<{
    params: { id: string };
    body: {
      readonly source: string;
      readonly name: string;
      readonly data?: unknown | undefined;
      readonly eventId?: string | undefined;
    };
    answer: {
      readonly eventId: string;
      readonly duplicate: boolean;
    };
  }>;
  'GET /api/agents/{id}/files': Operation<{
    params: { id: string };
    query: PageQuery & {
      /** For a file of one of its conversations. */
      readonly contextId?: string | undefined;
    };
    answer: Page<AgentFile>;
  }>;
  'DELETE /api/agents/{id}/files/{path}': Operation<{
    params: { id: string; path: string };
    query: {
      /** For a file of one of its conversations. */
      readonly contextId?: string | undefined;
    };
    answer: {
      readonly path: string;
    };
  }>;
  'GET /api/agents/{id}/files/{path}': Operation<{
    params: { id: string; path: string };
    query: {
      /** For a file of one of its conversations. */
      readonly contextId?: string | undefined;
    };
    answer: AgentFileContent;
  }>;
  'PUT /api/agents/{id}/files/{path}': Operation<{
    params: { id: string; path: string };
    query: {
      /** For a file of one of its conversations. */
      readonly contextId?: string | undefined;
    };
    body: {
      readonly content: string;
    } | undefined;
    answer: AgentFile;
  }>;
  'GET /api/agents/{id}/goals': Operation<{ params: { id: string }; answer: Page<Goal> }>;
  'GET /api/agents/{id}/inbox': Operation<{
    params: { id: string };
    query: PageQuery & {
      readonly status?: "pending" | "claimed" | "done" | "dead" | "withheld" | undefined;
      /** The events that woke this run. */
      readonly runId?: string | undefined;
    };
    answer: Page<InboxItem>;
  }>;
  'POST /api/agents/{id}/inbox/redrive': Operation<{
    params: { id: string };
    body: {
      readonly eventIds?: readonly (string)[] | undefined;
    } | undefined;
    answer: {
      readonly eventIds: readonly (string)[];
    };
  }>;
  'GET /api/agents/{id}/machine': Operation<{
    params: { id: string };
    query: {
      /** The machine of this conversation. Default: that of the agent itself. */
      readonly contextId?: string | undefined;
    };
    answer: Machine;
  }>;
  'POST /api/agents/{id}/machine/commands/{name}': Operation<{
    params: { id: string; name: string };
    query: {
      /** The machine of this conversation. Default: that of the agent itself. */
      readonly contextId?: string | undefined;
    };
    body: {
      readonly input?: unknown | undefined;
      /** Default: the nearest instance with such a command. */
      readonly instanceId?: string | undefined;
      /** The same as the header `Idempotency-Key`. */
      readonly idempotencyKey?: string | undefined;
    };
    answer: {
      readonly name: string;
      readonly output: unknown;
      readonly duplicate: boolean;
    };
  }>;
  'GET /api/agents/{id}/memories': Operation<{ params: { id: string }; answer: Page<Memory> }>;
  'POST /api/agents/{id}/pause': Operation<{ params: { id: string }; answer: Agent }>;
  'DELETE /api/agents/{id}/plans': Operation<{
    params: { id: string };
    query: {
      readonly key: string;
    };
    answer: {
      readonly key: string;
    };
  }>;
  'GET /api/agents/{id}/plans': Operation<{ params: { id: string }; answer: Page<Plan> }>;
  'PATCH /api/agents/{id}/plans': Operation<{
    params: { id: string };
    body: {
      readonly name?: string | undefined;
      /** What the agent is told when the plan is due. */
      readonly instruction?: string | undefined;
      /** Five fields, or six with seconds first, or `@daily` and the like. */
      readonly cron?: string | undefined;
      /** An ISO 8601 time, or milliseconds since the epoch. */
      readonly at?: string | number | undefined;
      /** An ISO 8601 duration, or milliseconds. */
      readonly after?: string | number | undefined;
      /** An IANA name. Default UTC. */
      readonly timeZone?: string | undefined;
      /** After downtime: `once` (default) is due one time for all missed times, `skip` not at all. */
      readonly misfire?: "once" | "skip" | undefined;
      readonly key: string;
    };
    answer: Plan;
  }>;
  'POST /api/agents/{id}/plans': Operation<{
    params: { id: string };
    body: {
      /** Default: made from the name. */
      readonly key?: string | undefined;
      readonly name: string;
      /** What the agent is told when the plan is due. */
      readonly instruction: string;
      /** Five fields, or six with seconds first, or `@daily` and the like. */
      readonly cron?: string | undefined;
      /** An ISO 8601 time, or milliseconds since the epoch. */
      readonly at?: string | number | undefined;
      /** An ISO 8601 duration, or milliseconds. */
      readonly after?: string | number | undefined;
      /** An IANA name. Default UTC. */
      readonly timeZone?: string | undefined;
      /** After downtime: `once` (default) is due one time for all missed times, `skip` not at all. */
      readonly misfire?: "once" | "skip" | undefined;
    };
    answer: Plan;
  }>;
  'DELETE /api/agents/{id}/plans/{key}': Operation<{
    params: { id: string; key: string };
    answer: {
      readonly key: string;
    };
  }>;
  'PATCH /api/agents/{id}/plans/{key}': Operation<{
    params: { id: string; key: string };
    body: {
      readonly name?: string | undefined;
      /** What the agent is told when the plan is due. */
      readonly instruction?: string | undefined;
      /** Five fields, or six with seconds first, or `@daily` and the like. */
      readonly cron?: string | undefined;
      /** An ISO 8601 time, or milliseconds since the epoch. */
      readonly at?: string | number | undefined;
      /** An ISO 8601 duration, or milliseconds. */
      readonly after?: string | number | undefined;
      /** An IANA name. Default UTC. */
      readonly timeZone?: string | undefined;
      /** After downtime: `once` (default) is due one time for all missed times, `skip` not at all. */
      readonly misfire?: "once" | "skip" | undefined;
    };
    answer: Plan;
  }>;
  'POST /api/agents/{id}/resume': Operation<{ params: { id: string }; answer: Agent }>;
  'GET /api/agents/{id}/session': Operation<{
    params: { id: string };
    query: {
      readonly contextId?: string | undefined;
    };
    answer: {
      readonly slices: Readonly<Record<string, Slice>>;
    };
  }>;
  'GET /api/agents/{id}/tasks': Operation<{ params: { id: string }; query: PageQuery; answer: Page<Task> }>;
  'GET /api/agents/{id}/transcript': Operation<{ params: { id: string }; answer: AgentTranscript }>;
  'GET /api/agents/{id}/versions': Operation<{ params: { id: string }; query: PageQuery; answer: Page<AgentVersion> }>;
  'POST /api/artifacts': Operation<{
    query: {
      /** The name of the file. Default: its id. */
      readonly name?: string | undefined;
      /** Who uploads it. Required with a secret key. */
      readonly entityId?: string | undefined;
    };
    body: Blob;
    answer: Attachment;
  }>;
  'GET /api/artifacts/{id}': Operation<{ params: { id: string }; answer: string }>;
  'GET /api/artifacts/{id}/address': Operation<{
    params: { id: string };
    answer: {
      /** A path on the gateway. */
      readonly url: string;
      readonly expiresAt: number;
    };
  }>;
  'GET /api/artifacts/{id}/content': Operation<{
    params: { id: string };
    query: {
      readonly expires: number;
      readonly signature: string;
    };
    answer: string;
  }>;
  'GET /api/audit': Operation<{
    query: PageQuery & {
      /** The id of a key, a person or a session. */
      readonly actor?: string | undefined;
      /** An `operationId` in this document. */
      readonly action?: string | undefined;
      /** The id of what was changed. */
      readonly subject?: string | undefined;
      /** What kind of thing was changed. */
      readonly kind?: "agent" | "artifact" | "call" | "conversation" | "entity" | "evaluation" | "grant" | "key" | "link" | "MCP tool" | "notification" | "project" | "run" | "session" | "space" | "tool" | undefined;
      /** The first time, in milliseconds since the epoch. */
      readonly from?: number | undefined;
      /** Only entries before this time. */
      readonly to?: number | undefined;
      /** Default: `json`, in pages. */
      readonly format?: "json" | "jsonl" | undefined;
    };
    answer: Page<AuditEntry>;
  }>;
  'GET /api/calls/{id}': Operation<{ params: { id: string }; answer: Call }>;
  'POST /api/card-links': Operation<{
    body: {
      readonly code: string;
    };
    answer: {
      readonly token: string;
      readonly expiresAt: number;
      readonly callId: string;
      readonly runId: string;
      readonly entity: {
        readonly id: string;
        readonly displayName: string;
      };
    };
  }>;
  'GET /api/entities': Operation<{
    query: PageQuery & {
      readonly kind?: "human" | "agent" | "service" | undefined;
      readonly externalId?: string | undefined;
    };
    answer: Page<Entity>;
  }>;
  'POST /api/entities': Operation<{
    body: {
      readonly kind: "human" | "service";
      readonly displayName: string;
      readonly externalId?: string | undefined;
      readonly metadata?: Readonly<Record<string, unknown>> | undefined;
    };
    answer: Entity;
  }>;
  'DELETE /api/entities/{id}': Operation<{ params: { id: string }; answer: Erasure }>;
  'GET /api/entities/{id}': Operation<{ params: { id: string }; answer: Entity }>;
  'POST /api/entities/{id}/token': Operation<{
    params: { id: string };
    body: {
      readonly expiresInSeconds?: number | undefined;
    } | undefined;
    answer: {
      readonly token: string;
      readonly entityId: string;
      readonly expiresAt: number;
    };
  }>;
  'GET /api/erasures': Operation<{ query: PageQuery; answer: Page<Erasure> }>;
  'GET /api/erasures/{id}': Operation<{ params: { id: string }; answer: Erasure }>;
  'GET /api/evaluations': Operation<{
    query: PageQuery & {
      readonly name?: string | undefined;
    };
    answer: Page<ListedEvaluation>;
  }>;
  'POST /api/evaluations': Operation<{
    body: {
      readonly name: string;
    };
    answer: Evaluation;
  }>;
  'DELETE /api/evaluations/{id}': Operation<{
    params: { id: string };
    answer: {
      readonly id: string;
    };
  }>;
  'GET /api/evaluations/{id}': Operation<{ params: { id: string }; answer: EvaluationDetails }>;
  'GET /api/evaluations/{id}/cases': Operation<{ params: { id: string }; query: PageQuery; answer: Page<EvaluationCase> }>;
  'POST /api/evaluations/{id}/cases': Operation<{
    params: { id: string };
    body: {
      readonly runId: string;
      /** Default: the first words of what was asked. */
      readonly name?: string | undefined;
      /** Default: the response of the run. */
      readonly expected?: string | undefined;
    };
    answer: EvaluationCase;
  }>;
  'DELETE /api/evaluations/{id}/cases/{caseId}': Operation<{
    params: { id: string; caseId: string };
    answer: {
      readonly id: string;
    };
  }>;
  'POST /api/evaluations/{id}/reports': Operation<{
    params: { id: string };
    body: {
      /** Samples with the id of a report that exists are added to it. */
      readonly id?: string | undefined;
      /** What was evaluated, e.g. `v3` or `shorter prompt`. */
      readonly version: string;
      /** The place of the first sample in the report. Default 0. */
      readonly from?: number | undefined;
      readonly samples: readonly (NewEvaluationSample)[];
    };
    answer: EvaluationReport;
  }>;
  'DELETE /api/evaluations/{id}/reports/{reportId}': Operation<{
    params: { id: string; reportId: string };
    answer: {
      readonly id: string;
    };
  }>;
  'GET /api/evaluations/{id}/results': Operation<{ params: { id: string }; query: PageQuery; answer: Page<EvaluationResult> }>;
  'GET /api/export': Operation<{
    query: {
      readonly entityId: string;
    };
    answer: string;
  }>;
  'DELETE /api/grants': Operation<{
    query: {
      readonly id: string;
    };
    answer: Grant;
  }>;
  'GET /api/grants': Operation<{
    query: PageQuery & {
      readonly agentId?: string | undefined;
      readonly toolName?: string | undefined;
      /** Default: both. */
      readonly status?: "active" | "ended" | undefined;
    };
    answer: Page<Grant>;
  }>;
  'DELETE /api/grants/{id}': Operation<{ params: { id: string }; answer: Grant }>;
  'GET /api/grants/{id}': Operation<{ params: { id: string }; answer: Grant }>;
  'GET /api/home': Operation<{ answer: Home }>;
  'GET /api/jobs/stream': Operation<{
    query: {
      readonly agentId: string;
      /** Resumes after this event, for clients that cannot set the `Last-Event-ID` header. */
      readonly lastEventId?: number | undefined;
    };
    answer: JobEvent;
  }>;
  'POST /api/jobs/{callId}/claim': Operation<{
    params: { callId: string };
    body: {
      /** Your own name for the worker. Operators see it. */
      readonly worker: string;
      /** How long the claim lasts after each heartbeat, in milliseconds. Default 30,000. */
      readonly leaseMs?: number | undefined;
    };
    answer: ClaimedJob;
  }>;
  'POST /api/jobs/{callId}/heartbeat': Operation<{
    params: { callId: string };
    body: {
      readonly claimToken: string;
      /** Any JSON up to 16,000 bytes. Readers of the streams see it. */
      readonly progress?: unknown | undefined;
    };
    answer: {
      readonly callId: string;
      readonly claimedUntil: number;
    };
  }>;
  'GET /api/keys': Operation<{ query: PageQuery; answer: Page<Key> }>;
  'POST /api/keys': Operation<{
    body: {
      readonly name: string;
      readonly scopes: readonly ("admin" | "write" | "read")[];
      /** The project that it sees. Default: your own. With a key of all projects: all of them for scope `admin`, otherwise `default`. */
      readonly project?: string | undefined;
      /** The agents that it may use, by id or name. All other agents and spaces do not exist for it. */
      readonly agents?: readonly (string)[] | undefined;
      /** The ids of the spaces that it may use. All other spaces and agents do not exist for it. */
      readonly spaces?: readonly (string)[] | undefined;
      /** The operations that it may use, as this document writes them, e.g. `POST /chat`. */
      readonly paths?: readonly (string)[] | undefined;
      /** At most so many requests in any period of so many seconds. More get 429. */
      readonly rate?: {
        readonly requests: number;
        readonly seconds: number;
      } | undefined;
      /** When it stops working, in milliseconds since the epoch. */
      readonly expiresAt?: number | undefined;
    };
    answer: {
      readonly id: string;
      readonly key: string;
    };
  }>;
  'DELETE /api/keys/{id}': Operation<{ params: { id: string }; answer: Key }>;
  'GET /api/links': Operation<{ query: PageQuery; answer: Page<SignInLink> }>;
  'POST /api/links': Operation<{
    body: {
      /** The person that the browser acts for. */
      readonly entityId?: string | undefined;
      /** At most your own scopes. Default: none for a link with `entityId`, otherwise your own. */
      readonly scopes?: readonly ("admin" | "write" | "read")[] | undefined;
      /** Default 900. */
      readonly expiresInSeconds?: number | undefined;
    };
    answer: {
      readonly id: string;
      readonly url: string;
      readonly expiresAt: number;
    };
  }>;
  'DELETE /api/links/{id}': Operation<{ params: { id: string }; answer: SignInLink }>;
  'GET /api/mcp/servers': Operation<{
    answer: {
      readonly items: readonly (McpServer)[];
    };
  }>;
  'GET /api/mcp/tools': Operation<{
    query: PageQuery & {
      readonly status?: "approved" | "held" | undefined;
    };
    answer: Page<McpTool>;
  }>;
  'POST /api/mcp/tools/{id}/approve': Operation<{
    params: { id: string };
    body: {
      readonly fingerprint: string;
    };
    answer: McpTool;
  }>;
  'GET /api/models': Operation<{
    answer: {
      readonly items: readonly (Model)[];
    };
  }>;
  'GET /api/notifications': Operation<{
    query: PageQuery & {
      readonly status?: "pending" | "sent" | "failed" | "obsolete" | undefined;
      readonly target?: string | undefined;
    };
    answer: Page<Notification>;
  }>;
  'GET /api/notifications/targets': Operation<{
    answer: {
      readonly items: readonly (NotificationTarget)[];
    };
  }>;
  'POST /api/notifications/targets/{name}/test': Operation<{ params: { name: string }; answer: Notification }>;
  'POST /api/notifications/{id}/retry': Operation<{ params: { id: string }; answer: Notification }>;
  'GET /api/pending': Operation<{
    query: PageQuery & {
      /** Only calls that this entity may answer. With a token: its own entity. */
      readonly entityId?: string | undefined;
      readonly agentId?: string | undefined;
      readonly spaceId?: string | undefined;
      /** Default: `pending`. With a token: of the calls that its entity may answer, or could have answered. Calls that no longer wait are listed in the order of their end, newest first. */
      readonly status?: "pending" | "resolved" | "expired" | "cancelled" | undefined;
    };
    answer: Page<PendingCall>;
  }>;
  'GET /api/projects': Operation<{ query: PageQuery; answer: Page<Project> }>;
  'POST /api/projects': Operation<{
    body: {
      /** An id that you choose. Default: a new id. */
      readonly id?: string | undefined;
      readonly name?: string | undefined;
      /** What all its agents together may spend on a day, in UTC. */
      readonly spend?: {
        readonly perDay?: number | undefined;
        readonly perDayTokens?: number | undefined;
        readonly currency?: string | undefined;
      } | undefined;
    };
    answer: Project;
  }>;
  'DELETE /api/projects/{id}': Operation<{
    params: { id: string };
    answer: {
      readonly id: string;
    };
  }>;
  'GET /api/projects/{id}': Operation<{ params: { id: string }; answer: Project }>;
  'PATCH /api/projects/{id}': Operation<{
    params: { id: string };
    body: {
      readonly name?: string | undefined;
      readonly spend?: {
        readonly perDay?: number | undefined;
        readonly perDayTokens?: number | undefined;
        readonly currency?: string | undefined;
      } | null | undefined;
    };
    answer: Project;
  }>;
  'GET /api/runs': Operation<{
    query: PageQuery & {
      readonly agentId?: string | undefined;
      /** It is a run of this conversation. */
      readonly contextId?: string | undefined;
      /** A queued run is in no list: it is found by its id, and its event in the inbox of its agent. */
      readonly status?: "running" | "waiting" | "completed" | "failed" | "cancelled" | undefined;
      /** Why it stopped, e.g. `max_steps`. */
      readonly stop?: string | undefined;
      /** It called this tool. */
      readonly toolName?: string | undefined;
      /** One of its calls has this status. With `toolName`: one of that tool. */
      readonly outcome?: "running" | "waiting" | "ok" | "denied" | "expired" | "error" | "unknown" | "cancelled" | "skipped" | undefined;
      /** It wrote in this space, or showed a call there. */
      readonly spaceId?: string | undefined;
      /** This event woke it. */
      readonly eventId?: string | undefined;
      /** Started at or after this time. */
      readonly since?: number | undefined;
      /** Started before this time. */
      readonly until?: number | undefined;
    };
    answer: Page<Run>;
  }>;
  'GET /api/runs/{id}': Operation<{ params: { id: string }; answer: Run }>;
  'GET /api/runs/{id}/calls/{callId}': Operation<{ params: { id: string; callId: string }; answer: RunCall }>;
  'POST /api/runs/{id}/cancel': Operation<{ params: { id: string }; answer: Run }>;
  'GET /api/runs/{id}/forks': Operation<{ params: { id: string }; query: PageQuery; answer: Page<Fork> }>;
  'POST /api/runs/{id}/forks': Operation<{
    params: { id: string };
    body: {
      /** The step that the fork does again. Steps before it are copied. */
      readonly atStep: number;
      /** Default: none. */
      readonly changes?: ForkChanges | undefined;
    };
    answer: {
      readonly runId: string;
      readonly contextId: string;
    };
  }>;
  'GET /api/runs/{id}/steps/{step}/request': Operation<{ params: { id: string; step: string }; answer: StepRequest }>;
  'GET /api/runs/{id}/story': Operation<{ params: { id: string }; answer: Story }>;
  'GET /api/runs/{id}/stream': Operation<{
    params: { id: string };
    query: {
      /** Resumes after this event, for clients that cannot set the `Last-Event-ID` header. */
      readonly lastEventId?: number | undefined;
    };
    answer: RunEvent;
  }>;
  'GET /api/runs/{id}/transcript': Operation<{ params: { id: string }; query: PageQuery; answer: Page<RunEntry> }>;
  'POST /api/runs/{runId}/tool-results': Operation<{
    params: { runId: string };
    body: {
      readonly callId: string;
      readonly result: unknown;
      /** From `POST /api/jobs/{callId}/claim`. Needed while a worker has claimed the call. */
      readonly claimToken?: string | undefined;
      /** The number of the question, for a call that may ask again. It prevents answering another question by mistake. */
      readonly round?: number | undefined;
    } | {
      readonly callId: string;
      readonly error: string;
      /** From `POST /api/jobs/{callId}/claim`. Needed while a worker has claimed the call. */
      readonly claimToken?: string | undefined;
      /** The number of the question, for a call that may ask again. It prevents answering another question by mistake. */
      readonly round?: number | undefined;
    } | {
      readonly callId: string;
      readonly approve: true;
      readonly input?: unknown | undefined;
      readonly grant?: GrantRequest | undefined;
      /** Needed for a call of a fork: the name of its tool, which then runs for real. */
      readonly runForReal?: string | undefined;
    } | {
      readonly callId: string;
      readonly deny: string;
    };
    answer: {
      readonly callId: string;
      readonly duplicate: boolean;
      /** The run that continues with the answer. It is `queued` until the agent takes the answer. */
      readonly runId: string;
      /** The grant that was given with the approval. */
      readonly grantId?: string | undefined;
    };
  }>;
  'GET /api/search': Operation<{
    query: PageQuery & {
      /** Words, "phrases in quotation marks" and prefix*. All of them have to occur. Upper case and accents do not matter. */
      readonly q: string;
      /** `message`: said in a space or a conversation. `input`, `output`: of a call. `error`: of a call or a run. */
      readonly kind?: "message" | "input" | "output" | "error" | undefined;
    };
    answer: {
      readonly items: readonly (SearchResult)[];
      /** The cursor of the next page. Absent on the last page. */
      readonly next?: string | undefined;
      /** Texts that were stored before this time can be found. Absent while the index is built for the first time. */
      readonly indexedTo?: number | undefined;
    };
  }>;
  'DELETE /api/session': Operation<{ answer: Session }>;
  'GET /api/session': Operation<{ answer: Session }>;
  'PATCH /api/session': Operation<{
    body: {
      readonly entityId: string | null;
    };
    answer: Session;
  }>;
  'POST /api/session': Operation<{
    body: {
      readonly code: string;
    } | {
      readonly key: string;
      /** The person to act for. Needs scope `write`. */
      readonly entityId?: string | undefined;
    };
    answer: Session;
  }>;
  'GET /api/sessions': Operation<{ query: PageQuery; answer: Page<Session> }>;
  'DELETE /api/sessions/{id}': Operation<{ params: { id: string }; answer: Session }>;
  'GET /api/spaces': Operation<{
    query: PageQuery & {
      readonly entityId?: string | undefined;
      /** Whether archived spaces are listed too, or alone. Default `exclude`. */
      readonly archived?: "exclude" | "include" | "only" | undefined;
    };
    answer: Page<Space>;
  }>;
  'POST /api/spaces': Operation<{
    body: {
      /** An id that you choose. Default: a new id. */
      readonly id?: string | undefined;
      readonly name: string;
      readonly description?: string | undefined;
      readonly metadata?: Readonly<Record<string, unknown>> | undefined;
      readonly members?: readonly ({
        readonly entityId: string;
        readonly role?: string | undefined;
      })[] | undefined;
    };
    answer: Space;
  }>;
  'DELETE /api/spaces/{id}': Operation<{ params: { id: string }; answer: Erasure }>;
  'GET /api/spaces/{id}': Operation<{ params: { id: string }; answer: Space }>;
  'PATCH /api/spaces/{id}': Operation<{
    params: { id: string };
    body: {
      readonly name?: string | undefined;
      readonly description?: string | undefined;
      readonly archived?: boolean | undefined;
    };
    answer: Space;
  }>;
  'DELETE /api/spaces/{id}/members': Operation<{
    params: { id: string };
    query: {
      readonly entityId?: string | undefined;
    };
    body: {
      readonly entityId: string;
    } | undefined;
    answer: {
      readonly spaceId: string;
      readonly entityId: string;
    };
  }>;
  'GET /api/spaces/{id}/members': Operation<{ params: { id: string }; query: PageQuery; answer: Page<Member> }>;
  'POST /api/spaces/{id}/members': Operation<{
    params: { id: string };
    body: {
      readonly entityId: string;
      readonly role?: string | undefined;
    };
    answer: Member;
  }>;
  'GET /api/spaces/{id}/messages': Operation<{
    params: { id: string };
    query: {
      readonly before?: number | undefined;
      readonly after?: number | undefined;
      readonly limit?: number | undefined;
    };
    answer: {
      readonly items: readonly (Message)[];
      readonly hasMore: boolean;
    };
  }>;
  'POST /api/spaces/{id}/messages': Operation<{
    params: { id: string };
    body: {
      readonly text: string;
      /** Who posts the message. Required with a secret key. */
      readonly entityId?: string | undefined;
      readonly replyTo?: string | undefined;
      /** A message with the same id by the same sender is posted once. */
      readonly clientMessageId?: string | undefined;
      readonly metadata?: Readonly<Record<string, unknown>> | undefined;
      /** Ids of files that the sender uploaded with `POST /api/artifacts`. */
      readonly attachments?: readonly (string)[] | undefined;
    };
    answer: {
      readonly id: string;
      readonly spaceId: string;
      readonly seq: number;
      readonly entityId: string;
      readonly kind: "text" | "tool";
      readonly text: string;
      readonly replyTo?: string | undefined;
      readonly status: "running" | "complete" | "error" | "requires_action" | "expired" | "cancelled";
      readonly attachments?: readonly (Attachment)[] | undefined;
      /** For a card: `toolName`, `input`, and `output` once it has ended. */
      readonly metadata: Readonly<Record<string, unknown>>;
      readonly runId?: string | undefined;
      readonly callId?: string | undefined;
      /** Set on the card of a call that waits or waited for an answer. */
      readonly call?: CardCall | undefined;
      readonly createdAt: number;
      readonly updatedAt: number;
      readonly duplicate?: true | undefined;
      /** The other agents of the space, and whether the message reaches them. */
      readonly heardBy: readonly ({
        readonly entityId: string;
        readonly as: "queued" | "paused" | "withheld";
      })[];
    };
  }>;
  'POST /api/spaces/{id}/seen': Operation<{
    params: { id: string };
    body: {
      readonly seq: number;
      readonly entityId?: string | undefined;
    };
    answer: {
      readonly spaceId: string;
      readonly entityId: string;
      readonly seq: number;
    };
  }>;
  'GET /api/spaces/{id}/stream': Operation<{
    params: { id: string };
    query: {
      /** Resumes after this event, for clients that cannot set the `Last-Event-ID` header. */
      readonly lastEventId?: number | undefined;
      /** An entity token, for clients that cannot set headers. */
      readonly token?: string | undefined;
    };
    answer: SpaceEvent;
  }>;
  'GET /api/status': Operation<{ answer: Status }>;
  'GET /api/tools': Operation<{
    query: PageQuery & {
      readonly source?: "built-in" | "file" | "definition" | "mcp" | "api" | undefined;
    };
    answer: Page<Tool>;
  }>;
  'POST /api/tools': Operation<{
    body: {
      readonly name: string;
      readonly description?: string | undefined;
      readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
      readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
      readonly executionType: "gateway" | "external" | "space" | "internal";
      readonly visible?: boolean | undefined;
      readonly execution?: Readonly<Record<string, unknown>> | undefined;
      readonly display?: ToolDisplay | undefined;
      readonly terminal?: boolean | undefined;
      readonly effects?: "none" | "session" | "external" | undefined;
      readonly idempotent?: boolean | undefined;
      readonly timeoutMs?: number | undefined;
      readonly approval?: boolean | undefined;
      readonly keepLatest?: string | undefined;
      readonly expiresInMs?: number | undefined;
      readonly grants?: false | undefined;
      readonly answerers?: ToolAnswerers | undefined;
      readonly resultSchema?: Readonly<Record<string, unknown>> | undefined;
      readonly middleware?: readonly (MiddlewareConfig)[] | undefined;
      readonly id?: string | undefined;
    };
    answer: Tool;
  }>;
  'DELETE /api/tools/{id}': Operation<{
    params: { id: string };
    answer: {
      readonly id: string;
      readonly status: "deleted";
      /** The ids of agents. */
      readonly takenFrom: readonly (string)[];
      /** The ids of sub-agents of the registry. */
      readonly takenFromTools: readonly (string)[];
    };
  }>;
  'GET /api/tools/{id}': Operation<{ params: { id: string }; answer: Tool }>;
  'PATCH /api/tools/{id}': Operation<{
    params: { id: string };
    body: {
      readonly name?: string | undefined;
      readonly description?: string | undefined;
      readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
      readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
      readonly executionType?: "gateway" | "external" | "space" | "internal" | undefined;
      readonly visible?: boolean | undefined;
      readonly execution?: Readonly<Record<string, unknown>> | undefined;
      readonly display?: ToolDisplay | undefined;
      readonly terminal?: boolean | undefined;
      readonly effects?: "none" | "session" | "external" | undefined;
      readonly idempotent?: boolean | undefined;
      readonly timeoutMs?: number | undefined;
      readonly approval?: boolean | undefined;
      readonly keepLatest?: string | undefined;
      readonly expiresInMs?: number | undefined;
      readonly grants?: false | undefined;
      readonly answerers?: ToolAnswerers | undefined;
      readonly resultSchema?: Readonly<Record<string, unknown>> | undefined;
      readonly middleware?: readonly (MiddlewareConfig)[] | undefined;
      readonly [name: string]: unknown;
    };
    answer: Tool;
  }>;
  'POST /api/tools/{id}/test': Operation<{
    params: { id: string };
    body: {
      readonly input: unknown;
      /** Runs a tool that needs approval. */
      readonly approve?: true | undefined;
    };
    answer: Settlement;
  }>;
  'GET /api/usage': Operation<{
    query: {
      /** Any of `agent`, `model`, `day`, `entity` and `kind`, separated by commas. Default: `day`. */
      readonly by?: string | undefined;
      /** The first day. Default: 29 days before `to`. */
      readonly from?: string | undefined;
      /** The last day. Default: today. */
      readonly to?: string | undefined;
      readonly agentId?: string | undefined;
      readonly entityId?: string | undefined;
    };
    answer: UsageReport;
  }>;
  'POST /chat': Operation<{
    body: {
      /** Default: a new conversation. */
      readonly context_id?: string | undefined;
      /** For a new conversation: the id or name of the agent. Default: the only agent. */
      readonly agent?: string | undefined;
      /** For a new conversation. */
      readonly metadata?: Readonly<Record<string, unknown>> | undefined;
      readonly terminating_config?: TerminatingConfig | undefined;
      /** How the model is asked, for this request. What it leaves out is as the agent's configuration says. */
      readonly settings?: ModelSettings | undefined;
      /** False: the messages of this run are not stored. Default true. */
      readonly save?: boolean | undefined;
      readonly message: string;
      /** Ids of files that the sender uploaded with `POST /api/artifacts`. */
      readonly attachments?: readonly (string)[] | undefined;
    };
    answer: ChatAnswer;
  }>;
  'POST /chat/add-ai-message': Operation<{
    body: {
      /** Default: a new conversation. */
      readonly context_id?: string | undefined;
      /** For a new conversation: the id or name of the agent. Default: the only agent. */
      readonly agent?: string | undefined;
      /** For a new conversation. */
      readonly metadata?: Readonly<Record<string, unknown>> | undefined;
      readonly terminating_config?: TerminatingConfig | undefined;
      /** How the model is asked, for this request. What it leaves out is as the agent's configuration says. */
      readonly settings?: ModelSettings | undefined;
      /** False: the messages of this run are not stored. Default true. */
      readonly save?: boolean | undefined;
      readonly prompt?: string | undefined;
      readonly message?: string | undefined;
    };
    answer: ChatAnswer;
  }>;
  'POST /chat/invoke': Operation<{
    body: {
      /** Default: a new conversation. */
      readonly context_id?: string | undefined;
      /** For a new conversation: the id or name of the agent. Default: the only agent. */
      readonly agent?: string | undefined;
      /** For a new conversation. */
      readonly metadata?: Readonly<Record<string, unknown>> | undefined;
      readonly terminating_config?: TerminatingConfig | undefined;
      /** How the model is asked, for this request. What it leaves out is as the agent's configuration says. */
      readonly settings?: ModelSettings | undefined;
      /** False: the messages of this run are not stored. Default true. */
      readonly save?: boolean | undefined;
    };
    answer: ChatAnswer;
  }>;
  'POST /contexts': Operation<{
    body: {
      /** An id that you choose. Default: a new id. */
      readonly id?: string | undefined;
      /** The id or name of the agent. Default: the only agent. */
      readonly agent?: string | undefined;
      /** The same as `agent`. */
      readonly agent_id?: string | undefined;
      /** Who may use it with a token. With a token: its own entity. */
      readonly entity_id?: string | undefined;
      readonly metadata?: Readonly<Record<string, unknown>> | undefined;
    };
    answer: Conversation;
  }>;
  'DELETE /contexts/{id}': Operation<{
    params: { id: string };
    query: {
      /** With `true`, its texts and their copies are erased: the response has the `erasure`. */
      readonly erase?: "true" | "false" | undefined;
    };
    answer: {
      readonly id: string;
      readonly erasure?: Erasure | undefined;
    };
  }>;
  'GET /contexts/{id}': Operation<{ params: { id: string }; query: PageQuery; answer: ConversationWithMessages }>;
  'GET /health': Operation<{
    answer: {
      readonly status: "ok";
    };
  }>;
  'POST /hooks/{name}': Operation<{
    params: { name: string };
    body: Readonly<Record<string, unknown>>;
    answer: {
      readonly ok: true;
      /** True if it was received before. Nothing was done again. */
      readonly duplicate: boolean;
    } | {
      readonly challenge: string;
    };
  }>;
  'DELETE /mcp': Operation<{ answer: string }>;
  'GET /mcp': Operation<{ answer: string }>;
  'POST /mcp': Operation<{ body: Readonly<Record<string, unknown>> | readonly (unknown)[]; answer: string }>;
  'GET /metrics': Operation<{ answer: string }>;
  'GET /oauth/callback': Operation<{ answer: string }>;
  'GET /openapi.json': Operation<{ answer: Readonly<Record<string, unknown>> }>;
  'GET /ready': Operation<{
    answer: {
      readonly status: "ready";
    };
  }>;
  'POST /v1/chat/completions': Operation<{ body: ChatCompletionRequest; answer: ChatCompletion }>;
  'GET /v1/models': Operation<{
    answer: {
      readonly object: "list";
      readonly data: readonly (OpenAiModel)[];
    };
  }>;
  'GET /v1/models/{model}': Operation<{ params: { model: string }; answer: OpenAiModel }>;
  'POST /v1/responses': Operation<{ body: ResponsesRequest; answer: OpenAiResponse }>;
  'GET /v1/responses/{id}': Operation<{
    params: { id: string };
    query: {
      readonly stream?: string | undefined;
    };
    answer: OpenAiResponse;
  }>;
  'POST /v1/responses/{id}/cancel': Operation<{ params: { id: string }; answer: OpenAiResponse }>;
}
