//! `comity bench`: the figures that we promise, measured.
//!
//! Every case compares a subject with a reference that is measured in turns with it, in the same run: machines differ,
//! ratios hardly do. It runs in a temporary directory with servers of its own and touches nothing else.

mod bench_env;
mod cases;
mod compare;
mod firefox;
mod git;
mod json_mailbox;
mod machine;
mod options;
mod process_reaper;
mod quantity;
mod raw;
mod report;
mod server;

use std::process::ExitCode;
use std::rc::Rc;

use bench_env::BenchEnv;
use options::{BenchCommand, BenchOptions};
use report::BenchReport;

/// Exit code for words that are not understood.
const USAGE: u8 = 2;

/// What a case has at hand: where it runs, how long it may measure, and where its figures go.
struct Bench {
    options: BenchOptions,
    stage: Rc<BenchEnv>,
    report: BenchReport,
}

/// Runs the benchmarks, or one of the processes that they need.
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match options::parse(&args) {
        Ok(BenchCommand::Help) => {
            print!("{}", options::help());
            ExitCode::SUCCESS
        }
        Ok(BenchCommand::List) => {
            cases::ALL.iter().for_each(|case| println!("{:<11} {}", case.name, case.about));
            ExitCode::SUCCESS
        }
        Ok(BenchCommand::Echo(socket)) => exit(raw::echo::serve(&socket)),
        Ok(BenchCommand::Relay(socket)) => exit(raw::relay::serve(&socket)),
        Ok(BenchCommand::Worker) => exit(raw::worker::work()),
        Ok(BenchCommand::Reaper(dir)) => exit(process_reaper::reap(&dir)),
        Ok(BenchCommand::Measure(options)) => measure(options),
        Err(problem) => {
            eprintln!("comity bench: {problem}\n  see: comity bench --help");
            ExitCode::from(USAGE)
        }
    }
}

fn measure(options: BenchOptions) -> ExitCode {
    let stage = match BenchEnv::new() {
        Ok(stage) => Rc::new(stage),
        Err(problem) => return exit(Err(problem)),
    };
    let mut bench = Bench { report: BenchReport::begin(&stage), options, stage };
    for case in bench.options.cases.clone() {
        bench.report.begin_case(case.name);
        if let Err(problem) = (case.run)(&mut bench) {
            bench.report.failed(&problem);
        }
    }
    let Bench { options, stage, mut report } = bench;
    report.end(&stage);
    drop(stage);
    match options.json.map(|file| report.write(&file)) {
        Some(Err(problem)) => exit(Err(problem)),
        Some(Ok(())) | None => report.exit_code(),
    }
}

impl Bench {
    /// Fewer of something when it has to be quick.
    fn scaled(&self, count: usize) -> usize {
        if self.options.quick { count.div_ceil(5) } else { count }
    }
}

fn exit(done: Result<(), String>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("comity bench: {problem}");
            ExitCode::FAILURE
        }
    }
}
