//! A caller's ancestors, as the kernel knows them.

use comity_core::agents::Process;

use crate::terminal_programs::is_host;

/// How far up the process tree is followed.
pub const DEPTH_MAX: usize = 64;

/// Programs that only run other programs.
const WRAPPERS: [&str; 11] =
    ["sh", "bash", "dash", "zsh", "fish", "busybox", "env", "timeout", "setsid", "npm", "npx"];
/// Programs that adopt orphans, besides the first process.
const REAPERS: [&str; 8] =
    ["systemd", "init", "tini", "dumb-init", "docker-init", "catatonit", "conmon", "containerd-shim"];
/// Device numbers of terminals that programs create.
const PTY_MAJORS: std::ops::RangeInclusive<u32> = 136..=143;

/// A process and its program.
#[derive(Clone, PartialEq, Debug)]
pub struct LineageProcess {
    pub process: Process,
    /// Its program's name, cut off by the kernel after 15 bytes.
    pub name: String,
    pub parent: u32,
    pub session: u32,
    pub group: u32,
    /// The device number of its terminal; 0 if it has none.
    pub terminal: u32,
    /// The foreground process group there.
    pub foreground: i32,
}

/// A terminal while a process leads it: both numbers are used again, and a process may go to another terminal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LedTerminal {
    pub leader: Process,
    device: u32,
}

/// Where a lineage ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineageEnd {
    /// At the first process, or where this machine's processes begin.
    Top,
    /// Somewhere: it is deeper than anybody nests programs.
    TooDeep,
    /// At a process that is gone, or is not the one that connected.
    Gone,
}

/// A process and its ancestors, nearest first.
#[derive(Clone, PartialEq, Debug)]
pub struct Lineage {
    pub links: Vec<LineageProcess>,
    pub end: LineageEnd,
}

impl Lineage {
    /// The ancestors of a process.
    pub fn of(pid: u32) -> Lineage {
        let mut links: Vec<LineageProcess> = Vec::new();
        let mut next = pid;
        loop {
            if links.len() >= DEPTH_MAX {
                return Lineage { links, end: LineageEnd::TooDeep };
            }
            let Some(link) = link(next) else { return Lineage { links, end: LineageEnd::Gone } };
            let parent = link.parent;
            links.push(link);
            match parent {
                // A parent outside of this pid namespace is 0.
                0 | 1 => return Lineage { links, end: LineageEnd::Top },
                parent => next = parent,
            }
        }
    }

    /// Nothing is known: the process is gone.
    pub fn gone() -> Lineage {
        Lineage { links: vec![], end: LineageEnd::Gone }
    }

    /// The programs, from the outermost down.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.links.iter().rev().map(|link| link.name.as_str()).collect();
        names.join(" > ")
    }

    /// The same as a place: a shell and its subshells are one.
    pub fn place(&self) -> String {
        let mut names: Vec<&str> = self.links.iter().rev().map(|link| link.name.as_str()).collect();
        names.dedup();
        names.join(" > ")
    }

    /// The program that the caller belongs to: the nearest above it that is not just a wrapper, unless that is beyond
    /// a terminal's shell. What a person types there belongs to no program, nor does what a terminal's host starts.
    pub fn program(&self) -> Option<&LineageProcess> {
        for (at, link) in self.links.iter().enumerate() {
            if at > 0 && !link.is_wrapper() {
                return (!is_host(link)).then_some(link);
            }
            if link.leads_terminal() && link.is_wrapper() {
                return None;
            }
        }
        None
    }

    /// Whether the process is the shell of the caller's terminal, hosts terminals, or is beyond that: the person's
    /// own.
    pub(crate) fn is_persons_own(&self, pid: u32) -> bool {
        let is_shell = |link: &LineageProcess| link.leads_terminal() && link.is_wrapper();
        let first = self.links.iter().position(|link| is_shell(link) || is_host(link));
        let at = self.links.iter().position(|link| link.process.pid == pid);
        at.zip(first).is_some_and(|(at, first)| at >= first)
    }

    /// What leads the terminal that the caller is at.
    pub fn terminal_leader(&self) -> Option<&LineageProcess> {
        let caller = self.links.first()?;
        let is_callers = |link: &&LineageProcess| {
            link.leads_terminal() && (link.session, link.terminal) == (caller.session, caller.terminal)
        };
        self.links.iter().find(is_callers)
    }

    /// Those that were perhaps taken in by their parent after they had lost another.
    pub fn adopted(&self) -> impl Iterator<Item = &LineageProcess> {
        let parents = self.links.iter().skip(1).map(Some).chain(std::iter::once(None));
        self.links.iter().zip(parents).filter_map(|(link, parent)| {
            let by_reaper = match parent {
                Some(parent) => REAPERS.contains(&&*parent.name),
                // The first process adopts everybody; outside of this namespace nobody is adopted.
                None => link.parent == 1,
            };
            by_reaper.then_some(link)
        })
    }

    /// Those of the processes that are in the lineage.
    pub fn has(&self, process: Process) -> bool {
        self.links.iter().any(|link| link.process == process)
    }
}

impl LineageProcess {
    fn is_wrapper(&self) -> bool {
        WRAPPERS.contains(&self.name.trim_start_matches('-'))
    }

    /// Whether it leads a terminal's session: usually the shell that a person types into.
    pub(crate) fn leads_terminal(&self) -> bool {
        self.terminal != 0 && self.session == self.process.pid
    }

    pub fn led_terminal(&self) -> LedTerminal {
        LedTerminal { leader: self.process, device: self.terminal }
    }

    pub fn terminal_name(&self) -> Option<String> {
        let (major, minor) = device(self.terminal);
        match major {
            0 => None,
            _ if PTY_MAJORS.contains(&major) => {
                Some(format!("pts/{}", (major - PTY_MAJORS.start()) * 256 + minor))
            }
            4 => Some(format!("tty{minor}")),
            _ => Some(format!("tty {major}:{minor}")),
        }
    }

    /// The number of its terminal, if a program created that.
    pub fn pty(&self) -> Option<u32> {
        let (major, minor) = device(self.terminal);
        PTY_MAJORS.contains(&major).then(|| (major - PTY_MAJORS.start()) * 256 + minor)
    }
}

fn device(number: u32) -> (u32, u32) {
    ((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xf_ff00))
}

/// A process as the kernel describes it.
#[cfg(target_os = "linux")]
pub fn link(pid: u32) -> Option<LineageProcess> {
    let stat = crate::processes::about(pid, "stat", u64::MAX)?;
    // The name may contain anything, so the fields are counted from its closing parenthesis.
    let (open, close) =
        (stat.iter().position(|byte| *byte == b'(')?, stat.iter().rposition(|byte| *byte == b')')?);
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
    let fields = std::str::from_utf8(stat.get(close + 2..)?).ok()?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
    // A zombie keeps its line until its parent reaps it, but does nothing any more.
    if matches!(fields.first(), Some(&"Z" | &"X")) {
        return None;
    }
    Some(LineageProcess {
        process: Process { pid, start: fields.get(19)?.parse().ok()? },
        name,
        parent: number(1)? as u32,
        group: number(2)? as u32,
        session: number(3)? as u32,
        terminal: number(4)? as u32,
        foreground: number(5)? as i32,
    })
}

/// Elsewhere the process table is asked, which knows less.
#[cfg(not(target_os = "linux"))]
pub fn link(pid: u32) -> Option<LineageProcess> {
    let output = std::process::Command::new("ps")
        .args(["-o", "ppid=,pgid=,sess=,tpgid=,tdev=,lstart=,ucomm=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let fields: Vec<&str> = text.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
    let started = fields.get(5..10)?.join(" ");
    let start = started.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    Some(LineageProcess {
        process: Process { pid, start },
        name: fields.get(10..)?.join(" "),
        parent: number(0)? as u32,
        group: number(1)? as u32,
        session: number(2).unwrap_or(0) as u32,
        terminal: fields.get(4).and_then(|device| device.split('/').next()).is_some_and(|d| d != "0") as u32,
        foreground: number(3).unwrap_or(-1) as i32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lineage from lines such as `10 bash 1 s10 g10 t34817 f20`, the nearest first.
    fn lineage(lines: &str) -> Lineage {
        let links = lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let after = |at: usize| words[at][1..].parse::<u32>().expect("a number");
            let pid = words[0].parse().expect("a number");
            LineageProcess {
                process: Process { pid, start: u64::from(pid) },
                name: words[1].into(),
                parent: words[2].parse().expect("a number"),
                session: after(3),
                group: after(4),
                terminal: after(5),
                foreground: after(6) as i32,
            }
        });
        Lineage { links: links.collect(), end: LineageEnd::Top }
    }

    #[test]
    fn what_a_person_types_belongs_to_no_program() {
        let typed = lineage(
            "30 comity-hook 20 s20 g30 t34817 f30
             20 -zsh 10 s20 g20 t34817 f30
             10 tmux 1 s10 g10 t0 f0",
        );
        assert_eq!(typed.program(), None);
        assert!(typed.is_persons_own(20) && typed.is_persons_own(10) && !typed.is_persons_own(30));
        let by_client = lineage(
            "50 comity-hook 40 s40 g40 t0 f0
             40 sh 30 s40 g40 t0 f0
             30 claude 20 s20 g30 t34817 f30
             20 bash 10 s20 g20 t34817 f30",
        );
        assert_eq!(by_client.program().map(|link| link.process.pid), Some(30));
        assert!(!by_client.is_persons_own(30) && by_client.is_persons_own(20));
        let in_a_pane_of_its_own = lineage(
            "50 comity-hook 40 s40 g40 t0 f0
             30 claude 20 s30 g30 t34817 f30
             10 tmux 1 s10 g10 t0 f0",
        );
        assert_eq!(in_a_pane_of_its_own.program().map(|link| link.process.pid), Some(30));
        assert!(!in_a_pane_of_its_own.is_persons_own(30));
    }

    #[test]
    fn a_terminal_is_led_by_what_opened_it() {
        let leader = |lines: &str| lineage(lines).terminal_leader().map(|link| link.process.pid);
        assert_eq!(leader("30 comity 20 s20 g30 t34817 f30\n20 bash 10 s20 g20 t34817 f30"), Some(20));
        assert_eq!(leader("30 comity 20 s20 g30 t34818 f30\n20 bash 10 s20 g20 t34817 f30"), None);
        assert_eq!(leader("30 comity 20 s25 g30 t34818 f30\n20 bash 10 s20 g20 t34817 f30"), None);
        assert_eq!(leader("30 comity 20 s30 g30 t0 f0\n20 bash 10 s20 g20 t34817 f20"), None);
    }

    #[test]
    fn whoever_lost_a_parent_is_seen() {
        let names =
            |lines: &str| -> Vec<u32> { lineage(lines).adopted().map(|link| link.process.pid).collect() };
        assert_eq!(names("30 comity 1 s30 g30 t0 f0"), [30]);
        assert_eq!(names("30 comity 20 s30 g30 t0 f0\n20 systemd 1 s20 g20 t0 f0"), [30, 20]);
        assert_eq!(names("30 comity 0 s30 g30 t0 f0"), [0_u32; 0], "from outside of the namespace");
        assert_eq!(
            names("30 comity 20 s30 g30 t0 f0\n20 initdb 0 s20 g20 t0 f0"),
            [0_u32; 0],
            "a name that begins so"
        );
    }

    #[test]
    fn terminals_have_names() {
        let on = |terminal| LineageProcess { terminal, ..link(std::process::id()).expect("this process") };
        assert_eq!(on(0x8803).terminal_name().as_deref(), Some("pts/3"));
        assert_eq!(on(0x0010_8805).pty(), Some(256 + 5));
        assert_eq!(on(0x0401).terminal_name().as_deref(), Some("tty1"));
        assert_eq!(on(0).terminal_name(), None);
    }

    #[test]
    fn a_process_knows_its_ancestors() {
        let own = std::process::id();
        let line = Lineage::of(own);
        assert_eq!(line.links.first().map(|link| link.process.pid), Some(own));
        assert!(line.links.len() > 1 && line.end == LineageEnd::Top, "{line:?}");
        assert_eq!(Lineage::of(u32::MAX), Lineage::gone());
    }
}
