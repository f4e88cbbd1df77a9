//! What programs do: one description of their options and operands, for proofs and for guesses.
//!
//! A row has two readers. [`crate::read_only`] reads it strictly: what is not listed is not proven.
//! [`crate::programs`] reads it leniently, to guess which files a command changes.

mod builtins;
mod files;
mod filters;
mod git;
mod languages;
mod listings;
mod options;
mod runners;
mod transfer;

use crate::effects::WriteKind;
use crate::programs::{ProgramCall, Walk};
use crate::read_only::{Doubt, Proven, Prover};
pub(crate) use git::COMMANDS as GIT_COMMANDS;
pub(crate) use options::{ParsedArguments, ProgramOptions};

use crate::arguments::Argument;

/// One or several programs that do the same.
pub(crate) struct KnownProgram {
    names: &'static str,
    pub(crate) options: ProgramOptions,
    pub(crate) guess: EffectGuess,
    pub(crate) proof: ReadProof,
    /// Whether only shells have it: no other program can start it.
    pub(crate) is_builtin: bool,
}

/// What it does to files, besides writing to the values of some options.
#[derive(Clone, Copy)]
pub(crate) enum EffectGuess {
    Nothing,
    /// It shows all of each operand.
    ShowsWhole,
    /// It shows a part of each operand.
    ShowsPart,
    Each(WriteKind),
    /// It changes the last operand.
    Last(WriteKind),
    /// It starts the program that follows after this many operands.
    Runs(usize),
    Own(fn(&mut Walk<'_>, &ProgramCall<'_>)),
}

/// When it is proven to only read.
#[derive(Clone, Copy)]
pub(crate) enum ReadProof {
    Never,
    Options,
    /// With only listed options, if this finds no doubt.
    Given(fn(&mut Prover, &ParsedArguments) -> Proven),
    /// If this finds no doubt in its arguments.
    Arguments(fn(&mut Prover, &[Argument]) -> Proven),
}

/// A program that only reads, with the listed options that have no mark.
const fn reads(names: &'static str, options: &'static [&'static str]) -> KnownProgram {
    let options = ProgramOptions::new(options);
    KnownProgram { names, options, guess: EffectGuess::Nothing, proof: ReadProof::Options, is_builtin: false }
}

/// A program that is never proven.
const fn writes(names: &'static str, options: &'static [&'static str], guess: EffectGuess) -> KnownProgram {
    KnownProgram {
        names,
        options: ProgramOptions::new(options),
        guess,
        proof: ReadProof::Never,
        is_builtin: false,
    }
}

impl KnownProgram {
    const fn any_argument(self) -> KnownProgram {
        KnownProgram { options: self.options.any_argument(), ..self }
    }

    const fn operands_max(self, operands_max: usize) -> KnownProgram {
        KnownProgram { options: self.options.operands_max(operands_max), ..self }
    }

    const fn dashes_end_nothing(self) -> KnownProgram {
        KnownProgram { options: self.options.dashes_end_nothing(), ..self }
    }

    const fn options_first(self) -> KnownProgram {
        KnownProgram { options: self.options.options_first(), ..self }
    }

    const fn values_apart(self) -> KnownProgram {
        KnownProgram { options: self.options.values_apart(), ..self }
    }

    const fn until_operand(self) -> KnownProgram {
        KnownProgram { options: self.options.until_operand(), ..self }
    }

    const fn proof(self, proof: ReadProof) -> KnownProgram {
        KnownProgram { proof, ..self }
    }

    const fn guess(self, guess: EffectGuess) -> KnownProgram {
        KnownProgram { guess, ..self }
    }

    const fn builtin(self) -> KnownProgram {
        KnownProgram { is_builtin: true, ..self }
    }

    /// Proves that it only reads with these arguments.
    pub(crate) fn prove(&self, prover: &mut Prover, arguments: &[Argument]) -> Proven {
        match self.proof {
            ReadProof::Never => Err(Doubt::because("it is not known to only read")),
            ReadProof::Options => self.options.prove(arguments).map(drop),
            ReadProof::Given(proof) => proof(prover, &self.options.prove(arguments)?),
            ReadProof::Arguments(proof) => proof(prover, arguments),
        }
    }
}

/// One file each.
const FAMILIES: [&[KnownProgram]; 8] = [
    listings::PROGRAMS,
    filters::PROGRAMS,
    files::PROGRAMS,
    languages::PROGRAMS,
    runners::PROGRAMS,
    transfer::PROGRAMS,
    builtins::PROGRAMS,
    git::PROGRAMS,
];

pub(crate) fn program(name: &str) -> Option<&'static KnownProgram> {
    FAMILIES.iter().find_map(|family| in_family(family, name))
}

pub(crate) fn in_family(family: &'static [KnownProgram], name: &str) -> Option<&'static KnownProgram> {
    let is_named =
        |names: &str| names.as_bytes().split(|byte| *byte == b' ').any(|known| known == name.as_bytes());
    family.iter().find(|program| is_named(program.names))
}
