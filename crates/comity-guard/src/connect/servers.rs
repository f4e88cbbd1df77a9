//! Our MCP server among those of others, in JSON files.

use super::json::Document;
use super::piece::Piece;
use super::scan::Type;
use super::{EditProblem, HOME_VARIABLE, ProgramPaths, SERVER, SERVER_ARGUMENTS};

/// For programs that need only a command.
pub(super) fn plain(connection: &ProgramPaths) -> Piece {
    let mut members =
        vec![("command", Piece::text(&connection.comity)), ("args", Piece::texts(&SERVER_ARGUMENTS))];
    members.extend(environment("env", connection));
    Piece::Members(members)
}

/// The server's environment: where the state is, so that it asks the same server as the hooks. Never who calls: with
/// a token, everybody who uses these settings would be one agent.
pub(super) fn environment(member: &'static str, connection: &ProgramPaths) -> Option<(&'static str, Piece)> {
    let home = Piece::text(connection.home.as_deref()?);
    Some((member, Piece::Members(vec![(HOME_VARIABLE, home)])))
}

pub(super) fn connect(
    document: &mut Document,
    member: &'static str,
    server: &Piece,
) -> Result<(), EditProblem> {
    let root = document.root();
    let Some(servers_at) = root.position(member)? else {
        document.append(&root, Some(member), &Piece::Members(vec![(SERVER, server.clone())]));
        return Ok(());
    };
    if document.type_of(&root.items[servers_at]) != Type::Object {
        return Err(EditProblem::wrong_type(member, "an object"));
    }
    let servers = document.inside(&root.items[servers_at]);
    match servers.position(SERVER)?.map(|at| &servers.items[at]) {
        Some(item) if document.value(item) == Some(server.value()) => {}
        Some(item) => document.replace(item, server),
        None => document.append(&servers, Some(SERVER), server),
    }
    Ok(())
}

pub(super) fn disconnect(document: &mut Document, member: &str) -> Result<(), EditProblem> {
    if document.is_gone() {
        return Ok(());
    }
    let root = document.root();
    let Some(servers_at) = root.position(member)? else { return Ok(()) };
    if document.type_of(&root.items[servers_at]) != Type::Object {
        return Ok(());
    }
    if let Some(at) = document.inside(&root.items[servers_at]).position(SERVER)? {
        document.remove(&[servers_at, at]);
    }
    Ok(())
}
