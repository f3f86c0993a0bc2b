/**
 * Environment variables that make a program run, load or look for other code than its command and arguments say. Each has
 * run a stranger's code in some program: with `NODE_OPTIONS=--import=data:…`, every program in Node.js runs the text.
 */
const NAMES: ReadonlySet<string> = new Set([
  // Where programs are found, and which one is the shell.
  ...['PATH', 'PATHEXT', 'COMSPEC', 'SHELL', 'CDPATH'],
  // What shells read or run when they start.
  ...['BASH_ENV', 'ENV', 'SHELLOPTS', 'BASHOPTS', 'IFS', 'PS4', 'PROMPT_COMMAND', 'ZDOTDIR'],
  // The folders with the settings of npm, git, pip and others, which name programs and code to load.
  ...['HOME', 'USERPROFILE', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'XDG_CONFIG_HOME', 'XDG_CONFIG_DIRS'],
  // Options and code for interpreters.
  ...['NODE_OPTIONS', 'NODE_PATH', 'NODE_REPL_EXTERNAL_MODULE', 'BUN_OPTIONS', 'BUN_INSPECT_PRELOAD'],
  ...['PERL5OPT', 'PERL5LIB', 'PERL5DB', 'PERLLIB', 'RUBYOPT', 'RUBYLIB', 'GEM_HOME', 'GEM_PATH', 'BUNDLE_GEMFILE'],
  ...['JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'JAVA_OPTS', 'JAVA_HOME', 'CLASSPATH'],
  ...['PHPRC', 'PHP_INI_SCAN_DIR', 'LUA_INIT', 'LUA_PATH', 'LUA_CPATH', 'DOTNET_STARTUP_HOOKS', 'ERL_FLAGS'],
  // Libraries that the C library loads.
  ...['GCONV_PATH', 'LOCPATH', 'GLIBC_TUNABLES'],
  // Programs that other programs start.
  ...['EDITOR', 'VISUAL', 'PAGER', 'BROWSER', 'SSH_ASKPASS', 'SUDO_ASKPASS', 'DOCKER_HOST', 'DOCKER_CONFIG'],
]);

const PREFIXES: readonly string[] = [
  // Libraries that the dynamic loader of Linux or macOS puts into every program.
  ...['LD_', 'DYLD_'],
  // Functions that bash takes from its environment.
  'BASH_FUNC_',
  // PYTHONPATH, PYTHONSTARTUP, PYTHONHOME, PYTHONBREAKPOINT, PYTHONWARNINGS and more.
  'PYTHON',
  ...['DOTNET_', 'CORECLR_', 'COR_', 'DENO_', 'OPENSSL_'],
  // Which commands git runs, and where packages come from and what they run when they are installed.
  ...['GIT_', 'NPM_CONFIG_', 'YARN_', 'PNPM_', 'COREPACK_', 'PIP_', 'PIPX_', 'UV_', 'CARGO_'],
];

/** True for a variable that changes how programs start. In any case of letters: on Windows `Path` is `PATH`. */
export function changesHowProgramsStart(name: string): boolean {
  const upper = name.toUpperCase();
  return NAMES.has(upper) || PREFIXES.some((prefix) => upper.startsWith(prefix));
}
