// SPDX-License-Identifier: Apache-2.0
//! A ROS 2 node by crates.io's ros2-client on RustDDS, for the tests of `cardan bridge dds`. Each line that it prints is a JSON
//! object. It runs until its standard input ends.
//!
//!   bridge-ros2-client nodes DOMAIN                       the nodes of others, as ros_discovery_info names them
//!   bridge-ros2-client read DOMAIN TOPIC                  images
//!   bridge-ros2-client write DOMAIN TOPIC WIDTH HEIGHT HZ the n-th image is full of n
//!   bridge-ros2-client parameters DOMAIN NODE NAME VALUE  lists NODE's parameters, gets NAME, sets it to VALUE (a number)
use std::error::Error;
use std::io::Read;
use std::time::Duration;

use futures::{pin_mut, FutureExt, StreamExt};
use ros2_client::qos::History;
use ros2_client::rcl_interfaces::{
    GetParametersRequest, GetParametersResponse, ListParametersRequest, ListParametersResponse, SetParametersRequest,
    SetParametersResponse,
};
use ros2_client::service::Client;
use ros2_client::{
    Context, ContextOptions, Message, MessageTypeName, Name, Node, NodeEvent, NodeName, NodeOptions, Parameter,
    ParameterValue, QosProfile, ServiceMapping, ServiceTypeName,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

type Outcome = Result<(), Box<dyn Error>>;

#[derive(Serialize, Deserialize)]
struct Time {
    sec: i32,
    nanosec: u32,
}

#[derive(Serialize, Deserialize)]
struct Header {
    stamp: Time,
    frame_id: String,
}

#[derive(Serialize, Deserialize)]
struct Image {
    header: Header,
    height: u32,
    width: u32,
    encoding: String,
    is_bigendian: u8,
    step: u32,
    data: Vec<u8>,
}
impl Message for Image {}

fn node_of(domain: &str) -> Result<Node, Box<dyn Error>> {
    let options = ContextOptions::new().domain_id(domain.parse()?);
    let context = Context::with_options(options)?;
    let node = context.new_node(NodeName::new("/", "far_side")?, NodeOptions::new().enable_rosout(false))?;
    Ok(node)
}

fn image_type() -> MessageTypeName {
    MessageTypeName::new("sensor_msgs", "Image")
}

async fn nodes(node: &Node) -> Outcome {
    let events = node.status_receiver().ok_or("no spinner runs")?;
    while let Ok(event) = events.recv().await {
        if let NodeEvent::ParticipantEntities(info) = event {
            for one in info.nodes() {
                println!("{}", json!({"node": one.fully_qualified_name()}));
            }
        }
    }
    Ok(())
}

async fn read(node: &mut Node, topic: &str) -> Outcome {
    let qos = QosProfile::subscription_default().history(History::KeepLast { depth: 5 });
    let topic = node.create_topic(&Name::parse(topic)?, image_type(), &qos)?;
    let subscription = node.create_subscription::<Image>(&topic, None)?;
    let images = subscription.async_stream();
    pin_mut!(images);
    while let Some(next) = images.next().await {
        let Ok((image, info)) = next else { continue };
        let first = image.data.first().copied().unwrap_or(0);
        let stamp = i64::from(image.header.stamp.sec) * 1_000_000_000 + i64::from(image.header.stamp.nanosec);
        println!(
            "{}",
            json!({"frame": image.header.frame_id, "height": image.height, "width": image.width, "encoding": image.encoding,
                   "step": image.step, "bytes": image.data.len(), "first": first, "stamp": stamp,
                   "same": image.data.iter().all(|byte| *byte == first),
                   "sourced": info.source_timestamp().is_some()})
        );
    }
    Ok(())
}

async fn write(node: &mut Node, topic: &str, size: [u32; 2], hz: f64) -> Outcome {
    let qos = QosProfile::publisher_default().history(History::KeepLast { depth: 5 });
    let topic = node.create_topic(&Name::parse(topic)?, image_type(), &qos)?;
    let publisher = node.create_publisher::<Image>(&topic, None)?;
    let [width, height] = size;
    for n in 1_u32.. {
        let image = Image {
            header: Header { stamp: Time { sec: 0, nanosec: n }, frame_id: "rear".into() },
            height,
            width,
            encoding: "bgr8".into(),
            is_bigendian: 0,
            step: width * 3,
            data: vec![(n % 251) as u8; (width * height * 3) as usize],
        };
        let _ = publisher.async_publish(image).await;
        smol::Timer::after(Duration::from_secs_f64(1.0 / hz)).await;
    }
    Ok(())
}

/// A client of a service of `of`, which Cyclone DDS's ROS middleware maps as the bridge does.
fn client<Q: Message + Clone + 'static, A: Message + Clone + 'static>(
    node: &mut Node,
    of: &str,
    name: &str,
    kind: &str,
) -> Result<Client<Q, A>, Box<dyn Error>> {
    let qos = QosProfile::publisher_default().history(History::KeepLast { depth: 1 });
    Ok(node.create_client::<Q, A>(
        ServiceMapping::Cyclone,
        &Name::new(of, name)?,
        &ServiceTypeName::new("rcl_interfaces", kind),
        qos.clone(),
        qos,
    )?)
}

/// Asks again each second: a question before both sides have met is lost, and this client does not always learn that they have.
async fn ask<Q: Message + Clone + 'static, A: Message + Clone + 'static>(
    client: &Client<Q, A>,
    question: Q,
) -> Result<A, Box<dyn Error>> {
    loop {
        let id = client.async_send_request(question.clone()).await.map_err(|e| format!("{e:?}"))?;
        let answer = client.async_receive_response(id).fuse();
        let pause = FutureExt::fuse(smol::Timer::after(Duration::from_secs(1)));
        pin_mut!(answer, pause);
        futures::select! {
            answer = answer => return Ok(answer.map_err(|e| format!("{e:?}"))?),
            _ = pause => {}
        }
    }
}

async fn parameters(node: &mut Node, of: &str, name: &str, value: f64) -> Outcome {
    let lister =
        client::<ListParametersRequest, ListParametersResponse>(node, of, "list_parameters", "ListParameters")?;
    let getter = client::<GetParametersRequest, GetParametersResponse>(node, of, "get_parameters", "GetParameters")?;
    let setter = client::<SetParametersRequest, SetParametersResponse>(node, of, "set_parameters", "SetParameters")?;
    let all = ListParametersRequest { prefixes: vec![], depth: 0 };
    let names = ask(&lister, all).await?.result.names;
    println!("{}", json!({"names": names}));
    let get = || GetParametersRequest { names: vec![name.to_string()] };
    let print = |answer: GetParametersResponse| {
        let values: Vec<ParameterValue> = answer.values.into_iter().map(Into::into).collect();
        println!("{}", json!({"values": format!("{values:?}")}));
    };
    print(ask(&getter, get()).await?);
    let set = SetParametersRequest {
        parameter: vec![Parameter { name: name.to_string(), value: ParameterValue::Double(value) }.into()],
    };
    for one in ask(&setter, set).await?.results {
        println!("{}", json!({"set": one.successful, "reason": one.reason}));
    }
    print(ask(&getter, get()).await?);
    Ok(())
}

fn run(words: &[String]) -> Outcome {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut node = node_of(words.get(1).ok_or("which domain?")?)?;
    smol::spawn(node.spinner()?.spin()).detach();
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    smol::block_on(async {
        match words[..] {
            ["nodes", _] => nodes(&node).await,
            ["read", _, topic] => read(&mut node, topic).await,
            ["write", _, topic, width, height, hz] => {
                write(&mut node, topic, [width.parse()?, height.parse()?], hz.parse()?).await
            }
            ["parameters", _, of, name, value] => parameters(&mut node, of, name, value.parse()?).await,
            _ => Err("usage: nodes | read | write | parameters, see the source".into()),
        }
    })
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Err(e) = run(&words) {
        eprintln!("bridge-ros2-client: {e}");
        std::process::exit(1);
    }
}
