// The exports of @lastcall/gateway/internal, for the command line. They are not covered by semantic versioning: any release may
// change or remove a name, so do not import it from other packages.
export { checkConfig } from '../config/check-config.ts';
export type { Config } from '../config/config.ts';
export { loadConfig } from '../config/load-config.ts';
export { readEnv } from '../config/read-env.ts';
export { resolveSettings, type Settings } from '../config/settings.ts';
export { demoConfig } from '../demo/demo.ts';
export { createCheckedGateway } from '../gateway.ts';
export { modelFinder } from '../models/find-model.ts';
export { withPace } from '../models/rehearsal/with-pace.ts';
export { checkStore } from '../ports/store/check-store.ts';
export { checkConfiguredBucket } from '../start/check-bucket.ts';
export { KnownSecrets } from '../telemetry/known-secrets.ts';
export { logProcess } from '../telemetry/log-process.ts';
export { createLogger } from '../telemetry/logger.ts';
export { createRedact, type Redact, secretValues } from '../telemetry/redact.ts';
